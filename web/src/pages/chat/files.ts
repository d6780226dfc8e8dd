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

const NONE: readonly TextFile[] = [];

/** What waits beside each conversation's field until it is sent; the page alone keeps it. */
class Attachments {
  #files = new Map<string, readonly TextFile[]>();
  #listeners = new Set<() => void>();

  subscribe = (changed: () => void): (() => void) => {
    this.#listeners.add(changed);
    return () => this.#listeners.delete(changed);
  };

  of(session: string): readonly TextFile[] {
    return this.#files.get(session) ?? NONE;
  }

  set(session: string, files: readonly TextFile[]): void {
    if (files.length) this.#files.set(session, files);
    else this.#files.delete(session);
    for (const listener of this.#listeners) listener();
  }

  move(from: string, to: string): void {
    const files = this.of(from);
    if (!files.length) return;
    this.set(to, [...this.of(to), ...files]);
    this.set(from, NONE);
  }
}

export const attachments = new Attachments();
