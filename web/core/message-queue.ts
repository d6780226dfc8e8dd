import type { Attachment } from "./attachment";
import type { Chats } from "./chats";
import { NEW } from "./conversation";
import { Observable } from "./observable";
import type { QueueBody, QueuedMessage } from "./transport";

/**
 * Messages on their way into a conversation's queue, which is the server's. One has its id from the start, so a request
 * can be repeated until the server confirms it: it is queued and sent once. Until then it is kept in local storage.
 */
export interface UnsavedMessage {
  id: string;
  session: string;
  text: string;
  agentId: string | undefined;
  attachments: readonly Attachment[];
  /** When it was typed, in milliseconds. */
  at: number;
}

type OpenChats = Pick<Chats, "started" | "get" | "queued" | "unqueue" | "open">;

interface QueueTransport {
  put: (sessionId: string, id: string, body: QueueBody) => Promise<QueuedMessage>;
  remove: (sessionId: string, id: string) => Promise<unknown>;
  /** Whether trying again may help. */
  isTransient: (error: unknown) => boolean;
  /** Whether the server says that the message has been sent already. */
  isSent: (error: unknown) => boolean;
  /** Whether the server does not know the message. */
  isMissing: (error: unknown) => boolean;
  pause: () => Promise<void>;
}

const PREFIX = "chie.queue.";
const NONE: readonly UnsavedMessage[] = [];

export class MessageQueue extends Observable {
  #unsaved: readonly UnsavedMessage[] = NONE;
  #removed = new Set<string>();
  #lists = new Map<string, readonly UnsavedMessage[]>();
  #saving = new Set<string>();

  constructor(
    private readonly chats: OpenChats,
    private readonly transport: QueueTransport,
    private readonly storage: Storage | null,
    /** Puts a message that could not be queued back into the field. */
    private readonly giveBack: (message: UnsavedMessage, error: unknown) => void,
  ) {
    super();
  }

  /** Those of a session that the server has not confirmed. */
  unsaved(session: string): readonly UnsavedMessage[] {
    return this.#lists.get(session) ?? NONE;
  }

  /** Continues what a page that was closed or reloaded had begun. */
  resume(): void {
    for (const one of this.#stored()) {
      if (one.session === NEW) this.giveBack(one, null);
      else this.#begin(one);
      if (one.session === NEW) this.#forget(one.id);
    }
  }

  add(session: string, text: string, agentId: string | undefined, attachments: readonly Attachment[]): void {
    this.#begin({ id: newUuid(), session, text, agentId, attachments, at: Date.now() });
  }

  /** False where it has been sent in the meantime. */
  async remove(sessionId: string, id: string): Promise<boolean> {
    if (this.#unsaved.some((one) => one.id === id)) {
      this.#removed.add(id); // its request may be on the way; it is removed when that has ended
      this.#drop(id);
      return true;
    }
    try {
      await this.transport.remove(sessionId, id);
    } catch (error) {
      if (!this.transport.isMissing(error)) throw error;
      await this.chats.open(sessionId);
      return false;
    }
    this.chats.unqueue(sessionId, id);
    return true;
  }

  #begin(message: UnsavedMessage): void {
    if (this.#unsaved.some((one) => one.id === message.id)) return;
    this.#unsaved = [...this.#unsaved, message];
    this.#store(message);
    this.#changed();
    if (!this.#saving.has(message.session)) void this.#saveAll(message.session);
  }

  /** One after the other, so that they keep their order. */
  async #saveAll(session: string): Promise<void> {
    this.#saving.add(session);
    const started = await this.chats.started(session);
    this.#saving.delete(session);
    if (started === null || started === NEW) {
      const { unsent } = this.chats.get(session);
      for (const one of this.unsaved(session)) this.#fail(one, unsent?.error ?? null);
      return;
    }
    if (started !== session) this.#move(session, started);
    if (this.#saving.has(started)) return;
    this.#saving.add(started);
    for (let next = this.unsaved(started)[0]; next; next = this.unsaved(started)[0]) {
      await this.chats.started(started);
      await this.#save(next);
    }
    this.#saving.delete(started);
  }

  async #save(message: UnsavedMessage): Promise<void> {
    const { id, session, text, agentId, attachments } = message;
    const files = attachments.map((one) => one.attachment_id);
    try {
      const { tip } = this.chats.get(session);
      const body: QueueBody = { message: text, agent_id: agentId, attachments: files };
      if (tip !== null) body.parent_id = tip;
      const queued = await this.transport.put(session, id, body);
      if (this.#removed.has(id)) await this.transport.remove(session, id).catch(() => undefined);
      else this.chats.queued(session, queued);
      this.#drop(id);
      if (queued.status === "complete") await this.chats.open(session);
    } catch (error) {
      if (this.#removed.has(id)) await this.transport.remove(session, id).catch(() => undefined);
      else if (this.transport.isTransient(error)) await this.transport.pause();
      else if (!this.transport.isSent(error)) this.#fail(message, error);
      else {
        this.#drop(id);
        await this.chats.open(session);
      }
    }
  }

  #fail(message: UnsavedMessage, error: unknown): void {
    this.#drop(message.id);
    this.giveBack(message, error);
  }

  #drop(id: string): void {
    this.#unsaved = this.#unsaved.filter((one) => one.id !== id);
    this.#forget(id);
    this.#changed();
  }

  #move(from: string, to: string): void {
    this.#unsaved = this.#unsaved.map((one) => (one.session === from ? { ...one, session: to } : one));
    for (const one of this.unsaved(from)) this.#store({ ...one, session: to });
    this.#changed();
  }

  #changed(): void {
    this.#lists = new Map();
    for (const one of this.#unsaved) this.#lists.set(one.session, [...this.unsaved(one.session), one]);
    this.notify();
  }

  /** Each under a key of its own: another tab may have others. */
  #store(message: UnsavedMessage): void {
    try {
      this.storage?.setItem(PREFIX + message.id, JSON.stringify(message));
    } catch {
      // Where storage is full or forbidden, it is lost with the page.
    }
  }

  #forget(id: string): void {
    try {
      this.storage?.removeItem(PREFIX + id);
    } catch {
      // There is nothing to remove where storage is forbidden.
    }
  }

  #stored(): UnsavedMessage[] {
    try {
      const { storage } = this;
      const names = Array.from({ length: storage?.length ?? 0 }, (_, index) => storage?.key(index) ?? "");
      const found = names.filter((name) => name.startsWith(PREFIX)).map((name) => storage?.getItem(name));
      return found
        .flatMap((one) => (one ? [JSON.parse(one) as UnsavedMessage] : []))
        .sort((a, b) => a.at - b.at);
    } catch {
      return [];
    }
  }
}

/** A random UUID. `crypto.randomUUID` exists on secure origins alone, and Chie may run on plain HTTP in a local network. */
function newUuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
