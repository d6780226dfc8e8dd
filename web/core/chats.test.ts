import { describe, expect, it } from "vitest";
import { textOf } from "./answer";
import { Chats } from "./chats";
import { branch, NEW } from "./conversation";
import recorded from "./fixtures/recorded.json";
import { Frames } from "./frames";
import type { StoredConversation, Transport } from "./transport";

const ODD = recorded.scripted;
const SESSION = ODD.headers["X-Chie-Session"];
const ANSWER = ODD.headers["X-Chie-Message"];
const BLOCKS = ODD.stream
  .split("\n\n")
  .filter(Boolean)
  .map((block) => `${block}\n\n`);

function response(blocks: string[], { broken = false } = {}): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const block of blocks) controller.enqueue(new TextEncoder().encode(block));
      if (broken) controller.error(new TypeError("network error"));
      else controller.close();
    },
  });
  return new Response(body, { headers: ODD.headers });
}

function setUp(transport: Partial<Transport>, hooks = {}) {
  const conversation = ODD.conversation as unknown as StoredConversation;
  const whole: Transport = {
    load: async () => conversation,
    ask: async () => response(BLOCKS),
    edit: async () => response(BLOCKS),
    regenerate: async () => response(BLOCKS),
    follow: async () => new Response(null, { status: 204 }),
    stop: async () => undefined,
    approve: async () => undefined,
    answer: async () => undefined,
    sendQueued: async () => undefined,
    isTransient: (error) => error instanceof TypeError,
    ...transport,
  };
  const frames = new Frames({ request: (run) => void setTimeout(run, 0) });
  return new Chats(whole, { now: () => 0, pause: async () => undefined, ...hooks }, frames);
}

async function settled(chats: Chats, key: string): Promise<void> {
  while (chats.get(key).live) await new Promise((resolve) => setTimeout(resolve, 1));
}

const text = (chats: Chats, key = SESSION) => {
  const { messages, tip } = chats.get(key);
  return branch(messages, tip).map((message) => (message.answer ? textOf(message.answer) : message.text));
};

describe("a conversation", () => {
  it("begins with a question and ends as the server has stored it", async () => {
    const chats = setUp({});
    expect(await chats.ask(NEW, "知恵とは？")).toBe(SESSION);
    await settled(chats, SESSION);
    expect(text(chats)).toEqual(["知恵とは？", "知恵は力。 One process, four modules."]);
    expect(chats.get(NEW).messages).toEqual([]);
    expect(chats.get(SESSION).messages.every((message) => !message.id.startsWith("local"))).toBe(true);
  });

  it("has two answers at a time, and is busy until both have ended", async () => {
    const release: (() => void)[] = [];
    const gated = (id: string) => {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          release.push(() => {
            for (const block of BLOCKS) controller.enqueue(new TextEncoder().encode(block));
            controller.close();
          });
        },
      });
      return new Response(body, { headers: { ...ODD.headers, "X-Chie-Message": id } });
    };
    const asked: unknown[] = [];
    const stopped: string[] = [];
    const chats = setUp({
      ask: async () => gated(ANSWER),
      regenerate: async (...parameters) => {
        asked.push(parameters);
        return gated("second");
      },
      stop: async (id) => stopped.push(id),
      load: () => new Promise(() => undefined),
    });
    await chats.ask(NEW, "知恵とは？", "guide");
    const first = chats.get(SESSION).messages[1];
    if (!first) throw new Error("no answer");
    expect(await chats.beside(SESSION, first, "echo")).toBe("second");
    expect(asked).toEqual([[ANSWER, "echo", undefined, true]]);
    const { messages, tip, live } = chats.get(SESSION);
    expect([tip, live, messages.length]).toEqual([ANSWER, ANSWER, 3]);
    expect(messages[2]?.parentId).toBe(messages[1]?.parentId);
    release[0]?.();
    while (chats.get(SESSION).live === ANSWER) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(chats.get(SESSION).live).toBe("second");
    await chats.stopAll(SESSION);
    expect(stopped).toEqual(["second"]);
    release[1]?.();
    await settled(chats, SESSION);
    expect(chats.get(SESSION).tip).toBe(ANSWER);
  });

  it("survives a visit to another page while it is created", async () => {
    let answer: (response: Response) => void = () => undefined;
    const chats = setUp({ ask: () => new Promise<Response>((resolve) => (answer = resolve)) });
    const asking = chats.ask(NEW, "知恵とは？");
    chats.reset();
    expect(text(chats, NEW)[0]).toBe("知恵とは？");
    answer(response(BLOCKS));
    await asking;
    chats.reset();
    expect(chats.get(NEW).messages).toEqual([]);
  });

  it("has the chosen agent from the start", async () => {
    const chats = setUp({ load: () => new Promise(() => undefined) });
    await chats.ask(NEW, "x", "echo");
    expect(chats.get(SESSION).agentId).toBe("echo");
  });

  it("resumes at any point where the connection broke, without loss or repetition", async () => {
    for (let cut = 0; cut < BLOCKS.length; cut++) {
      const asked: number[] = [];
      const chats = setUp({
        ask: async () => response(BLOCKS.slice(0, cut), { broken: true }),
        follow: async (_, after) => {
          asked.push(after);
          // The server may repeat events; the page ignores them.
          return response(BLOCKS.slice(Math.max(0, after - 2)));
        },
      });
      await chats.ask(NEW, "知恵とは？");
      await settled(chats, SESSION);
      expect(text(chats)[1]).toBe("知恵は力。 One process, four modules.");
      expect(asked).toHaveLength(1);
      expect(asked[0]).toBeLessThanOrEqual(cut);
    }
  });

  it("waits while the server does not respond, and shows it", async () => {
    const seen: string[] = [];
    let tries = 0;
    const chats: Chats = setUp(
      {
        ask: async () => response(BLOCKS.slice(0, 2), { broken: true }),
        follow: async (_, after) => {
          tries += 1;
          if (tries < 4) throw new TypeError("refused");
          return response(BLOCKS.slice(after));
        },
      },
      { pause: async () => void seen.push(chats.get(SESSION).link) },
    );
    await chats.ask(NEW, "x");
    await settled(chats, SESSION);
    expect(seen).toEqual(["waiting", "waiting", "waiting", "waiting"]);
    expect(text(chats)[1]).toBe("知恵は力。 One process, four modules.");
    expect(chats.get(SESSION).link).toBe("connected");
  });

  it("follows a streaming answer from the end of the stored part", async () => {
    const stored = structuredClone(ODD.conversation) as unknown as StoredConversation;
    const answer = stored.messages[1];
    if (!answer) throw new Error("no answer");
    Object.assign(answer, { status: "streaming", content: "知恵は", last_event_id: 2 });
    const asked: number[] = [];
    let loads = 0;
    const chats = setUp({
      load: async () => (loads++ ? (ODD.conversation as unknown as StoredConversation) : stored),
      follow: async (_, after) => {
        asked.push(after);
        return response(BLOCKS.slice(after));
      },
    });
    await chats.open(SESSION);
    expect(chats.get(SESSION).live).toBe(ANSWER);
    await settled(chats, SESSION);
    expect(asked).toEqual([2]);
    expect(text(chats)[1]).toBe("知恵は力。 One process, four modules.");
  });

  it("has a new title at once when it is renamed, unless it is not open", async () => {
    const chats = setUp({});
    await chats.open(SESSION);
    chats.rename(SESSION, "新しい題");
    chats.rename("other", "x");
    expect(chats.get(SESSION).title).toBe("新しい題");
    expect(chats.get("other").state).toBe("loading");
  });

  it("keeps the error of a question that could not be sent", async () => {
    const offline = new TypeError("offline");
    const chats = setUp({ ask: async () => Promise.reject(offline) });
    expect(await chats.ask(NEW, "大事な質問")).toBeNull();
    expect(chats.get(NEW).unsent?.error).toBe(offline);
    expect(chats.get(NEW).messages).toEqual([]);
    expect(chats.get(NEW).live).toBeNull();
  });

  it("fails to open where the server does not know it", async () => {
    const chats = setUp({ load: async () => Promise.reject(new Error("404")) });
    await chats.open("gone");
    expect(chats.get("gone").state).toBe("failed");
  });
});

describe("tools that wait for approval", () => {
  const WAITING =
    'id: 1\nevent: tool_call\ndata: {"type":"tool_call","id":"c","name":"drop","arguments":{},"approval":"required"}\n\n';

  it("are approved automatically where the user has always allowed them", async () => {
    const approved: unknown[] = [];
    const chats = setUp(
      {
        ask: async () => response([WAITING, ...BLOCKS.slice(-1)]),
        approve: async (...words) => void approved.push(words),
      },
      { isAllowed: (tool: { name: string }) => tool.name === "drop" },
    );
    await chats.ask(NEW, "x");
    await settled(chats, SESSION);
    expect(approved).toEqual([[ANSWER, "c", true]]);
  });

  it("ask again where the decision could not be sent", async () => {
    const chats = setUp({
      ask: async () => response([WAITING]),
      follow: () => new Promise(() => undefined),
      approve: async () => Promise.reject(new Error("409")),
    });
    await chats.ask(NEW, "x");
    while (!chats.get(SESSION).messages[1]?.answer?.parts.length)
      await new Promise((resolve) => setTimeout(resolve, 1));
    const tool = chats.get(SESSION).messages[1]?.answer?.parts[0];
    if (tool?.type !== "tool") throw new Error("no tool");
    await expect(chats.decide(SESSION, ANSWER, tool, true)).rejects.toThrow("409");
    expect(chats.get(SESSION).decided).toEqual({});
  });
});
