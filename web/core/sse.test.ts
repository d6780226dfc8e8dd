import { describe, expect, it } from "vitest";
import { readSse, SseParser } from "./sse";

const STREAM =
  'id: 1\nevent: message\ndata: {"content": "知恵"}\n\n: still here\n\nid: 2\nevent: done\ndata: {}\n\n';

describe("Server-Sent Events", () => {
  it("come out the same however the network cuts them, even inside a character", async () => {
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

  it("may end lines with a carriage return, span lines and leave the event's name out", () => {
    const events = new SseParser().push("id: 7\r\ndata: one\r\ndata: two\r\nretry: 5\r\nodd\r\n\r\n");
    expect(events).toEqual([{ id: 7, event: "message", data: "one\ntwo" }]);
  });

  it("are not given before they are complete", () => {
    const parser = new SseParser();
    expect(parser.push("id: 1\ndata: a\n")).toEqual([]);
    expect(parser.push("\n")).toHaveLength(1);
  });
});
