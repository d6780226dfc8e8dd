import { Observable } from "./observable";
import type { UploadList } from "./upload-list";

/** Messages that are sent once their files are uploaded. One whose file fails is no longer sent by itself. */
export class PendingSends extends Observable {
  #sends = new Map<string, (session: string) => void>();

  constructor(private readonly uploads: UploadList) {
    super();
    uploads.subscribe(() => this.#check());
  }

  has(session: string): boolean {
    return this.#sends.has(session);
  }

  start(session: string, send: (session: string) => void): void {
    this.#sends.set(session, send);
    this.notify();
    this.#check();
  }

  cancel(session: string): void {
    if (this.#sends.delete(session)) this.notify();
  }

  /** Before the files are moved. */
  move(from: string, to: string): void {
    const send = this.#sends.get(from);
    if (!send) return;
    this.#sends.delete(from);
    this.#sends.set(to, send);
    this.notify();
  }

  #check(): void {
    for (const [session, send] of [...this.#sends]) {
      const list = this.uploads.of(session);
      if (list.some((one) => one.error)) this.cancel(session);
      else if (list.every((one) => one.attachment)) {
        this.cancel(session);
        send(session);
      }
    }
  }
}
