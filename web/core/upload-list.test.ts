import { describe, expect, it } from "vitest";
import type { Attachment } from "./attachment";
import { UploadList } from "./upload-list";

const SESSION = "s1";

function attachment(name: string): Attachment {
  const size = { size: 3, width: null, height: null, characters: 3 };
  return { attachment_id: `id-${name}`, name, kind: "document", media_type: "text/plain", ...size };
}

function storage(): Storage {
  const kept = new Map<string, string>();
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  } as unknown as Storage;
}

const file = (name: string) => new File(["abc"], name);
const names = (list: UploadList, session = SESSION) => list.of(session).map((one) => one.name);

/** Lets pending promises finish. */
const settled = () => new Promise((done) => setTimeout(done, 0));

describe("UploadList", () => {
  it("uploads a file and keeps what the server says", async () => {
    const list = new UploadList(async (one) => attachment(one.name), null);
    list.add(SESSION, [file("報告.txt")]);
    expect(list.of(SESSION)[0]?.attachment).toBeNull();
    await settled();
    expect(list.of(SESSION)[0]?.attachment?.attachment_id).toBe("id-報告.txt");
  });

  it("keeps a file whose upload failed, and tries it again", async () => {
    let works = false;
    const list = new UploadList(async (one) => {
      if (!works) throw new Error("offline");
      return attachment(one.name);
    }, null);
    list.add(SESSION, [file("a.txt")]);
    await settled();
    const [failed] = list.of(SESSION);
    expect(failed?.error).toBeInstanceOf(Error);
    works = true;
    if (failed) list.retry(failed);
    expect(list.of(SESSION)[0]?.error).toBeNull();
    await settled();
    expect(list.of(SESSION)[0]?.attachment?.name).toBe("a.txt");
  });

  it("finishes an upload in the conversation to which it was moved", async () => {
    let finish: (found: Attachment) => void = () => undefined;
    const list = new UploadList(
      () =>
        new Promise((done) => {
          finish = done;
        }),
      null,
    );
    list.add("new", [file("a.txt")]);
    list.move("new", SESSION);
    finish(attachment("a.txt"));
    await settled();
    expect(names(list, "new")).toEqual([]);
    expect(list.of(SESSION)[0]?.attachment?.name).toBe("a.txt");
  });

  it("aborts the upload of a removed file", async () => {
    let aborted = false;
    const list = new UploadList((_, signal) => {
      signal.addEventListener("abort", () => {
        aborted = true;
      });
      return new Promise(() => undefined);
    }, null);
    list.add(SESSION, [file("a.txt"), file("b.txt")]);
    const [first] = list.of(SESSION);
    if (first) list.remove(SESSION, first);
    expect([aborted, names(list)]).toEqual([true, ["b.txt"]]);
  });

  it("puts files back that were not sent, and survives a reload", async () => {
    const kept = storage();
    const list = new UploadList(async (one) => attachment(one.name), kept);
    list.add(SESSION, [file("later.txt")]);
    await settled();
    list.restore(SESSION, [attachment("first.txt")]);
    expect(names(list)).toEqual(["first.txt", "later.txt"]);
    expect(names(new UploadList(async (one) => attachment(one.name), kept))).toEqual([
      "first.txt",
      "later.txt",
    ]);
    list.clear(SESSION);
    expect(names(new UploadList(async (one) => attachment(one.name), kept))).toEqual([]);
  });
});
