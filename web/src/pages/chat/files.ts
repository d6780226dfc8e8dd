/** Text files that are added to a question. */
export const MAX_FILE = 150 * 1024;

export interface TextFile {
  name: string;
  text: string;
}

export type FileProblem = "too-big" | "not-text";

export async function readTextFile(file: File): Promise<TextFile | FileProblem> {
  if (file.size > MAX_FILE) return "too-big";
  const text = decode(await file.arrayBuffer());
  return text === null ? "not-text" : { name: file.name, text };
}

/** UTF-8, or what Japanese Windows wrote before it. */
function decode(bytes: ArrayBuffer): string | null {
  for (const encoding of ["utf-8", "shift_jis"]) {
    try {
      const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
      if (!text.includes("\0")) return text;
    } catch {
      // The next one may fit.
    }
  }
  return null;
}

/** The files as fenced blocks before the question; a fence is longer than any inside. */
export function withFiles(question: string, files: readonly TextFile[]): string {
  const blocks = files.map(({ name, text }) => {
    const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map((run) => run.length));
    const fence = "`".repeat(longest + 1);
    return `${name}\n${fence}\n${text.replace(/\n$/, "")}\n${fence}`;
  });
  return [...blocks, question.trim()].filter(Boolean).join("\n\n");
}
