import type { Attachment } from "./attachment";
import { Observable } from "./observable";

/**
 * The files that wait to be sent in each conversation. A file is uploaded when it is added; one whose upload failed
 * stays, so that it can be tried again. Uploaded ones survive a reload of the page, as the typed text does.
 */
export interface Upload {
  key: number;
  name: string;
  /** Null after a reload: only what the server has is left then. */
  file: Source | null;
  attachment: Attachment | null;
  /** Why the upload failed. */
  error: unknown;
}

/** A resource of an MCP server, which Chie reads there. */
export interface ServerResource {
  name: string;
  server: string;
  uri: string;
}

type Source = File | ServerResource;

export type Send = (file: Source, signal: AbortSignal) => Promise<Attachment>;

const PREFIX = "chie.files.";
const NONE: readonly Upload[] = [];

export class UploadList extends Observable {
  #lists = new Map<string, readonly Upload[]>();
  #running = new Map<number, AbortController>();
  #next = 0;

  constructor(
    private readonly send: Send,
    private readonly storage: Storage | null,
  ) {
    super();
  }

  of(session: string): readonly Upload[] {
    let list = this.#lists.get(session);
    if (!list) {
      list = this.#stored(session);
      this.#lists.set(session, list);
    }
    return list;
  }

  add(session: string, files: readonly Source[]): void {
    const added = files.map((file) => this.#upload(file.name, file, null));
    this.#set(session, [...this.of(session), ...added]);
    for (const one of added) void this.#start(one);
  }

  retry(upload: Upload): void {
    this.#change(upload.key, { error: null });
    void this.#start({ ...upload, error: null });
  }

  remove(session: string, upload: Upload): void {
    this.#running.get(upload.key)?.abort();
    this.#set(
      session,
      this.of(session).filter((one) => one.key !== upload.key),
    );
  }

  clear(session: string): void {
    this.#set(session, NONE);
  }

  /** Puts back files of a question that was not sent, before those added since. */
  restore(session: string, attachments: readonly Attachment[]): void {
    if (!attachments.length) return;
    const back = attachments.map((one) => this.#upload(one.name, null, one));
    this.#set(session, [...back, ...this.of(session)]);
  }

  move(from: string, to: string): void {
    const list = this.of(from);
    if (!list.length) return;
    this.#set(to, [...this.of(to), ...list]);
    this.#set(from, NONE);
  }

  async #start(upload: Upload): Promise<void> {
    if (!upload.file) return;
    const controller = new AbortController();
    this.#running.set(upload.key, controller);
    try {
      const attachment = await this.send(upload.file, controller.signal);
      this.#change(upload.key, { attachment, name: attachment.name, error: null });
    } catch (error) {
      if (!controller.signal.aborted) this.#change(upload.key, { error });
    } finally {
      this.#running.delete(upload.key);
    }
  }

  #upload(name: string, file: Source | null, attachment: Attachment | null): Upload {
    this.#next += 1;
    return { key: this.#next, name, file, attachment, error: null };
  }

  #change(key: number, change: Partial<Upload>): void {
    for (const [session, list] of this.#lists) {
      if (list.some((one) => one.key === key))
        this.#set(
          session,
          list.map((one) => (one.key === key ? { ...one, ...change } : one)),
        );
    }
  }

  #set(session: string, list: readonly Upload[]): void {
    this.#lists.set(session, list);
    const kept = list.flatMap((one) => one.attachment ?? []);
    try {
      if (kept.length) this.storage?.setItem(PREFIX + session, JSON.stringify(kept));
      else this.storage?.removeItem(PREFIX + session);
    } catch {
      // Where storage is full or forbidden, the list is lost with the page.
    }
    this.notify();
  }

  #stored(session: string): readonly Upload[] {
    try {
      const kept = JSON.parse(this.storage?.getItem(PREFIX + session) ?? "[]") as Attachment[];
      return kept.length ? kept.map((one) => this.#upload(one.name, null, one)) : NONE;
    } catch {
      return NONE;
    }
  }
}
