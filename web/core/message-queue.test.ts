import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Conversation, NEW } from "./conversation";
import { MessageQueue, type UnsavedMessage } from "./message-queue";
import type { QueueBody, QueuedMessage } from "./transport";

const SESSION = "s1";

function memory(): Storage {
  const kept = new Map<string, string>();
  return {
    get length() {
      return kept.size;
    },
    key: (index: number) => [...kept.keys()][index] ?? null,
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  } as unknown as Storage;
}

class Conflict extends Error {}
class Missing extends Error {}

type Network = "fine" | "request lost" | "response lost";

/** The server's queue of one session, behind a network that loses requests and responses. */
class Server {
  queue: QueuedMessage[] = [];
  sent: { id: string; text: string }[] = [];
  network: Network[] = [];
  puts = 0;

  put = async (_: string, id: string, body: QueueBody): Promise<QueuedMessage> =>
    this.#over(() => {
      this.puts += 1;
      const known = this.queue.find((one) => one.message_id === id);
      if (known) return known;
      if (this.sent.some((one) => one.id === id)) throw new Conflict();
      const files = { agent_id: null, error_code: null, error_params: null, attachments: [] };
      const added: QueuedMessage = {
        message_id: id,
        parent_id: "a1",
        content: body.message,
        status: "streaming",
        ...files,
      };
      this.queue.push(added);
      return added;
    });

  remove = async (_: string, id: string): Promise<void> =>
    this.#over(() => {
      if (!this.queue.some((one) => one.message_id === id)) throw new Missing();
      this.queue = this.queue.filter((one) => one.message_id !== id);
    });

  /** The answer is complete: the first message goes off. */
  complete(): void {
    const first = this.queue.shift();
    if (first) this.sent.push({ id: first.message_id, text: first.content });
  }

  get texts(): string[] {
    return [...this.sent.map((one) => one.text), ...this.queue.map((one) => one.content)];
  }

  async #over<T>(handle: () => T): Promise<T> {
    const network = this.network.shift() ?? "fine";
    await tick();
    if (network === "request lost") throw new TypeError("offline");
    const result = handle();
    if (network === "response lost") throw new TypeError("offline");
    return result;
  }
}

const tick = () => new Promise<void>((resolve) => setTimeout(resolve, 0));

async function quiet(...tabs: MessageQueue[]): Promise<void> {
  while (tabs.some((tab) => tab.unsaved(SESSION).length || tab.unsaved(NEW).length)) await tick();
  await tick();
  await tick();
}

function open(
  server: Server,
  storage = memory(),
  started: Promise<string | null> = Promise.resolve(SESSION),
) {
  const given: UnsavedMessage[] = [];
  const chats = {
    started: () => started,
    get: () => ({ tip: "a1", unsent: null }) as unknown as Conversation,
    queued: () => undefined,
    unqueue: () => undefined,
    open: async () => undefined,
  };
  const transport = {
    put: server.put,
    remove: server.remove,
    isTransient: (error: unknown) => error instanceof TypeError,
    isSent: (error: unknown) => error instanceof Conflict,
    isMissing: (error: unknown) => error instanceof Missing,
    pause: tick,
  };
  return { tab: new MessageQueue(chats, transport, storage, (one) => void given.push(one)), given, storage };
}

const texts = (list: readonly UnsavedMessage[]) => list.map((one) => one.text);

describe("the queue of messages", () => {
  it("keeps the order, whatever the network loses and however often the answer ends", async () => {
    const step = fc.oneof(
      fc.record({ type: fc.constant("add" as const) }),
      fc.record({ type: fc.constant("complete" as const) }),
      fc.record({ type: fc.constant("reload" as const) }),
      fc.record({ type: fc.constant("wait" as const) }),
    );
    const network = fc.array(fc.constantFrom<Network>("fine", "request lost", "response lost"), {
      maxLength: 30,
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 14 }), network, async (steps, lost) => {
        const server = new Server();
        server.network = [...lost];
        const { tab: first, storage } = open(server);
        const tabs = [first];
        let tab = first;
        let added = 0;
        for (const { type } of steps) {
          if (type === "add") tab.add(SESSION, `質問 ${added++}`, undefined, []);
          else if (type === "complete") server.complete();
          else if (type === "wait") await tick();
          else {
            tab = open(server, storage).tab; // the old page may still have requests on the way
            tabs.push(tab);
            tab.resume();
          }
        }
        await quiet(...tabs);
        expect(server.texts.toSorted()).toEqual(
          Array.from({ length: added }, (_, n) => `質問 ${n}`).toSorted(),
        );
        if (tabs.length === 1)
          expect(server.texts).toEqual(Array.from({ length: added }, (_, n) => `質問 ${n}`));
        expect(storage.length).toBe(0);
      }),
      { numRuns: 60 },
    );
  });

  it("sends nothing that was removed while its request was on the way", async () => {
    for (const network of ["fine", "request lost", "response lost"] as const) {
      const server = new Server();
      server.network = [network];
      const { tab, storage } = open(server);
      tab.add(SESSION, "取り消す", undefined, []);
      const [one] = tab.unsaved(SESSION);
      expect(await tab.remove(SESSION, one?.id ?? "")).toBe(true);
      tab.add(SESSION, "残る", undefined, []);
      await quiet(tab);
      expect(server.texts).toEqual(["残る"]);
      expect(storage.length).toBe(0);
    }
  });

  it("says so where the message has been sent before it could be removed", async () => {
    const server = new Server();
    const { tab } = open(server);
    tab.add(SESSION, "x", undefined, []);
    await quiet(tab);
    const id = server.queue[0]?.message_id ?? "";
    server.complete();
    expect(await tab.remove(SESSION, id)).toBe(false);
    expect(server.texts).toEqual(["x"]);
  });

  it("waits for the first question of a new conversation", async () => {
    let accept: (session: string | null) => void = () => undefined;
    const server = new Server();
    const { tab } = open(server, memory(), new Promise((resolve) => (accept = resolve)));
    tab.add(NEW, "二つ目", undefined, []);
    tab.add(NEW, "三つ目", undefined, []);
    await tick();
    expect(server.puts).toBe(0);
    expect(texts(tab.unsaved(NEW))).toEqual(["二つ目", "三つ目"]);
    accept(SESSION);
    await quiet(tab);
    expect(server.texts).toEqual(["二つ目", "三つ目"]);
  });

  it("gives messages back where the first question was not sent, and after a reload before that", async () => {
    const server = new Server();
    const failed = open(server, memory(), Promise.resolve(null));
    failed.tab.add(NEW, "二つ目", undefined, []);
    await quiet(failed.tab);
    expect(texts(failed.given)).toEqual(["二つ目"]);
    const left = open(server, memory(), new Promise(() => undefined));
    left.tab.add(NEW, "失われない", undefined, []);
    const again = open(server, left.storage);
    again.tab.resume();
    expect(texts(again.given)).toEqual(["失われない"]);
    expect([server.puts, left.storage.length]).toEqual([0, 0]);
  });

  it("gives back what the server refuses", async () => {
    const server = new Server();
    server.put = async () => Promise.reject(new Error("too long"));
    const { tab, given, storage } = open(server);
    tab.add(SESSION, "x", undefined, []);
    await quiet(tab);
    expect([texts(given), storage.length]).toEqual([["x"], 0]);
  });
});
