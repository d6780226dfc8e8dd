import { describe, expect, it } from "vitest";
import type { Attachment } from "./attachment";
import { PendingSends } from "./pending-sends";
import { UploadList } from "./upload-list";

const tick = () => new Promise((resolve) => setTimeout(resolve, 0));

function setUp() {
  const running: { done: () => void; fail: (error: Error) => void }[] = [];
  const send = (file: { name: string }) =>
    new Promise<Attachment>((resolve, reject) => {
      const attachment = { attachment_id: file.name, name: file.name } as Attachment;
      running.push({ done: () => resolve(attachment), fail: reject });
    });
  const uploads = new UploadList(send, null);
  const sent: string[] = [];
  const pending = new PendingSends(uploads);
  return { running, uploads, pending, sent, send: (session: string) => void sent.push(session) };
}

describe("a message whose files are being uploaded", () => {
  it("is sent once, when the last one is there", async () => {
    const { running, uploads, pending, sent, send } = setUp();
    uploads.add("s", [new File(["a"], "a.txt"), new File(["b"], "b.txt")]);
    pending.start("s", send);
    running[0]?.done();
    await tick();
    expect([sent, pending.has("s")]).toEqual([[], true]);
    running[1]?.done();
    await tick();
    uploads.clear("s");
    expect([sent, pending.has("s")]).toEqual([["s"], false]);
  });

  it("stays where one fails, also when the others succeed later", async () => {
    const { running, uploads, pending, sent, send } = setUp();
    uploads.add("s", [new File(["a"], "a.txt"), new File(["b"], "b.txt")]);
    pending.start("s", send);
    running[0]?.fail(new Error("offline"));
    await tick();
    running[1]?.done();
    await tick();
    expect([sent, pending.has("s")]).toEqual([[], false]);
  });

  it("stays where the user has cancelled it", async () => {
    const { running, uploads, pending, sent, send } = setUp();
    uploads.add("s", [new File(["a"], "a.txt")]);
    pending.start("s", send);
    pending.cancel("s");
    running[0]?.done();
    await tick();
    expect(sent).toEqual([]);
  });

  it("moves with its files to the conversation's own key", async () => {
    const { running, uploads, pending, sent, send } = setUp();
    uploads.add("new", [new File(["a"], "a.txt")]);
    pending.start("new", send);
    pending.move("new", "s");
    uploads.move("new", "s");
    expect(sent).toEqual([]);
    running[0]?.done();
    await tick();
    expect(sent).toEqual(["s"]);
  });

  it("is sent without a file that was removed", async () => {
    const { uploads, pending, sent, send } = setUp();
    uploads.add("s", [new File(["a"], "a.txt")]);
    pending.start("s", send);
    const [one] = uploads.of("s");
    if (one) uploads.remove("s", one);
    expect(sent).toEqual(["s"]);
  });
});
