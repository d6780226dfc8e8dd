import { describe, expect, it } from "vitest";
import { type Answer, applyEvent, EMPTY_ANSWER, type ToolPart, textOf, waitingTools } from "./answer";
import { fromStored, type StoredMessage } from "./conversation";
import { type ChatEvent, decodeEvent } from "./events";
import recorded from "./fixtures/recorded.json";
import { SseParser } from "./sse";

/** Recorded from the server by tests/chat/recording.py. */
const NAMES = Object.keys(recorded) as (keyof typeof recorded)[];

function replay(stream: string, from: Answer = EMPTY_ANSWER): Answer {
  return new SseParser().push(stream).reduce((answer, raw) => {
    const event = decodeEvent(raw);
    return event ? applyEvent(answer, raw.id, event) : answer;
  }, from);
}

function stored(name: keyof typeof recorded): Answer {
  const message = recorded[name].conversation.messages[1] as unknown as StoredMessage;
  return fromStored(message).answer as Answer;
}

describe("an answer made from events", () => {
  it.each(NAMES)("of %s equals the stored one", (name) => {
    const live = replay(recorded[name].stream);
    const kept = stored(name);
    expect(live).toEqual(kept);
    expect(textOf(live)).toBe(recorded[name].conversation.messages[1]?.content);
  });

  it.each(NAMES)("of %s is the same when events come twice or the stream is cut anywhere", (name) => {
    const { stream } = recorded[name];
    const whole = replay(stream);
    const blocks = stream.split("\n\n");
    for (let cut = 0; cut < blocks.length; cut++) {
      const before = replay(`${blocks.slice(0, cut).join("\n\n")}\n\n`);
      expect(replay(stream, before)).toEqual(whole);
    }
  });

  it("has its tools in the order they ran, with results and errors", () => {
    const tools = replay(recorded.tools.stream).parts.filter((part) => part.type === "tool") as ToolPart[];
    expect(tools.map(({ name, result }) => [name, result?.isError])).toEqual([
      ["fetch", false],
      ["broken", true],
    ]);
  });

  it("that failed keeps its text and its error", () => {
    const answer = replay(recorded.failing.stream);
    expect(answer.status).toBe("failed");
    expect(textOf(answer)).toBe("So far so good");
    expect(answer.error?.text).toContain("LM Studio");
  });
});

describe("tools that wait for approval", () => {
  const call = (id: string): ChatEvent => ({
    type: "tool_call",
    id,
    name: "drop",
    arguments: {},
    approval: "required",
  });
  const result = (id: string): ChatEvent => ({
    type: "tool_result",
    id,
    name: "drop",
    content: "ok",
    is_error: false,
  });

  it("may be several at once", () => {
    let answer = applyEvent(EMPTY_ANSWER, 1, call("a"));
    answer = applyEvent(answer, 2, call("b"));
    expect(waitingTools(answer).map(({ id }) => id)).toEqual(["a", "b"]);
    answer = applyEvent(answer, 3, result("b"));
    expect(waitingTools(answer).map(({ id }) => id)).toEqual(["a"]);
  });

  it("may share an id, one after the other", () => {
    let answer = EMPTY_ANSWER;
    [call("x"), result("x"), call("x")].forEach((event, index) => {
      answer = applyEvent(answer, index + 1, event);
    });
    expect(waitingTools(answer)).toHaveLength(1);
    expect(waitingTools(answer)[0]?.key).toBe(1);
  });

  it("have a duration where this page saw their start and end", () => {
    let answer = applyEvent(EMPTY_ANSWER, 1, call("a"), 1000);
    answer = applyEvent(answer, 2, result("a"), 1250);
    expect((answer.parts[0] as ToolPart).milliseconds).toBe(250);
  });
});
