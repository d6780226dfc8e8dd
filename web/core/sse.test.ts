import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readSse, SseParser } from "./sse";

const STREAM =
  'id: 1\nevent: message\ndata: {"content": "知恵"}\n\n: still here\n\nid: 2\nevent: done\ndata: {}\n\n';

describe("Server-Sent Events", () => {
  it("are the same for any chunking, even inside a character", async () => {
    const bytes = new TextEncoder().encode(STREAM);
    for (const size of [1, 2, 3, 7, bytes.length]) {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
          controller.close();
        },
      });
      const events = [];
      for await (const batch of readSse(body)) events.push(...batch);
      expect(events).toEqual([
        { id: 1, event: "message", data: '{"content": "知恵"}' },
        { id: 2, event: "done", data: "{}" },
      ]);
    }
  });

  it("are the same for any content and any chunking", async () => {
    const events = fc.array(
      fc.record({ event: fc.constantFrom("message", "tool_call", "done"), data: fc.json() }),
    );
    const cuts = fc.array(fc.nat(), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(events, cuts, fc.constantFrom("\n", "\r\n"), async (sent, cut, end) => {
        const frames = sent.map(({ event, data }, at) => [
          `id: ${at + 1}`,
          `event: ${event}`,
          `data: ${data}`,
          "",
          "",
        ]);
        const bytes = new TextEncoder().encode(
          frames.map((lines) => lines.join(end)).join(`: beat${end}${end}`),
        );
        const edges = [0, ...cut.map((at) => at % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
        const body = new ReadableStream<Uint8Array>({
          start(controller) {
            for (let at = 1; at < edges.length; at++)
              controller.enqueue(bytes.slice(edges[at - 1], edges[at]));
            controller.close();
          },
        });
        const read = [];
        for await (const batch of readSse(body)) read.push(...batch);
        expect(read).toEqual(sent.map((event, at) => ({ id: at + 1, ...event })));
      }),
    );
  });

  it("survive any bytes without an error", async () => {
    await fc.assert(
      fc.property(fc.string(), (text) => {
        const whole = new SseParser().push(text);
        const parser = new SseParser();
        expect([...text].flatMap((letter) => parser.push(letter))).toEqual(whole);
      }),
    );
  });

  it("may have CRLF line ends, several data lines and no event name", () => {
    const events = new SseParser().push("id: 7\r\ndata: one\r\ndata: two\r\nretry: 5\r\nodd\r\n\r\n");
    expect(events).toEqual([{ id: 7, event: "message", data: "one\ntwo" }]);
  });

  it("are not emitted before they are complete", () => {
    const parser = new SseParser();
    expect(parser.push("id: 1\ndata: a\n")).toEqual([]);
    expect(parser.push("\n")).toHaveLength(1);
  });
});
