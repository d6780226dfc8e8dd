/** Text files attached to a question. */
import { Observable } from "../../../core/observable";

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

/** UTF-8, or Shift_JIS as older Japanese Windows programs write it. */
function decode(bytes: ArrayBuffer): string | null {
  for (const encoding of ["utf-8", "shift_jis"]) {
    try {
      const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
      if (!text.includes("\0")) return text;
    } catch {
      // Try the next encoding.
    }
  }
  return null;
}

/** The question with the files before it as fenced blocks; each fence is longer than any inside. */
export function withFiles(question: string, files: readonly TextFile[]): string {
  const blocks = files.map(({ name, text }) => {
    const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map((run) => run.length));
    const fence = "`".repeat(longest + 1);
    return `${name}\n${fence}\n${text.replace(/\n$/, "")}\n${fence}`;
  });
  return [...blocks, question.trim()].filter(Boolean).join("\n\n");
}

const NONE: readonly TextFile[] = [];

/** The files waiting to be sent in each conversation; a reload of the page loses them. */
class Attachments extends Observable {
  #files = new Map<string, readonly TextFile[]>();

  of(session: string): readonly TextFile[] {
    return this.#files.get(session) ?? NONE;
  }

  set(session: string, files: readonly TextFile[]): void {
    if (files.length) this.#files.set(session, files);
    else this.#files.delete(session);
    this.notify();
  }

  move(from: string, to: string): void {
    const files = this.of(from);
    if (!files.length) return;
    this.set(to, [...this.of(to), ...files]);
    this.set(from, NONE);
  }
}

export const attachments = new Attachments();
