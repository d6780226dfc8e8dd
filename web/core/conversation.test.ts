import { describe, expect, it } from "vitest";
import { branch, fromStored, type Message, newestTip, siblings } from "./conversation";

const message = (id: string, parentId: string | null, role: "user" | "assistant"): Message => ({
  id,
  parentId,
  role,
  text: id,
  agentId: null,
  model: null,
  createdAt: "",
  answer: null,
  attachments: [],
});

const TREE = [
  message("q1", null, "user"),
  message("a1", "q1", "assistant"),
  message("q2", "a1", "user"),
  message("a2", "q2", "assistant"),
  message("a1b", "q1", "assistant"),
  message("q1b", null, "user"),
  message("a3", "q1b", "assistant"),
];

describe("the tree of messages", () => {
  it("leads from any message back to the first", () => {
    expect(branch(TREE, "a2").map(({ id }) => id)).toEqual(["q1", "a1", "q2", "a2"]);
    expect(branch(TREE, null)).toEqual([]);
    expect(branch(TREE, "gone")).toEqual([]);
  });

  it("lists the versions of a message", () => {
    expect(siblings(TREE, TREE[1] as Message).map(({ id }) => id)).toEqual(["a1", "a1b"]);
    expect(siblings(TREE, TREE[0] as Message).map(({ id }) => id)).toEqual(["q1", "q1b"]);
  });

  it("finds the end of the newest branch through a message", () => {
    expect(newestTip(TREE, "a1")).toBe("a2");
    expect(newestTip(TREE, "q1")).toBe("a1b");
    expect(newestTip(TREE, "a3")).toBe("a3");
  });
});

describe("a stored answer", () => {
  const stored = {
    message_id: "a",
    session_id: "s",
    parent_id: "q",
    role: "assistant" as const,
    content: "half",
    status: "complete" as const,
    agent_id: null,
    created_at: "",
    error: null,
    input_tokens: null,
    output_tokens: null,
    last_event_id: 2,
  };

  it("is marked as truncated by a length limit", () => {
    const parts = [
      { type: "message" as const, content: "half" },
      { type: "done" as const, message_id: "a", finish: "length" as const },
    ];
    const cut = fromStored({ ...stored, parts });
    expect(cut.answer).toMatchObject({
      truncated: true,
      status: "complete",
      parts: [{ type: "text", text: "half" }],
    });
    expect(fromStored({ ...stored, parts: [] }).answer?.truncated).toBe(false);
  });

  it("is marked as stopped by the content filter", () => {
    const parts = [
      { type: "message" as const, content: "half" },
      { type: "done" as const, message_id: "a", finish: "content_filter" as const },
    ];
    expect(fromStored({ ...stored, parts }).answer).toMatchObject({ filtered: true, truncated: false });
    expect(fromStored({ ...stored, parts: [] }).answer?.filtered).toBe(false);
  });
});
