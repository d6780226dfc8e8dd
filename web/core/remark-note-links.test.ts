import { expect, test } from "vitest";
import { remarkNoteLinks } from "./remark-note-links";

const links = new Map([["nginx の 413", "k-1"]]);

function linked(value: string) {
  const tree = { type: "root", children: [{ type: "text", value }] };
  remarkNoteLinks({ links })(tree);
  return tree.children;
}

test("a title that names a note becomes a link", () => {
  expect(linked("see [[nginx の 413]].")).toEqual([
    { type: "text", value: "see " },
    { type: "link", url: "note://k-1", children: [{ type: "text", value: "nginx の 413" }] },
    { type: "text", value: "." },
  ]);
});

test("a label is shown in place of the title", () => {
  expect(linked("[[nginx の 413|the limit]]")).toEqual([
    { type: "link", url: "note://k-1", children: [{ type: "text", value: "the limit" }] },
  ]);
});

test("a title that names no note stays text", () => {
  expect(linked("[[other]]")).toEqual([{ type: "text", value: "[[other]]" }]);
});

test("code is left alone", () => {
  const tree = { type: "root", children: [{ type: "inlineCode", value: "[[nginx の 413]]" }] };
  remarkNoteLinks({ links })(tree);
  expect(tree.children).toEqual([{ type: "inlineCode", value: "[[nginx の 413]]" }]);
});
