import { describe, expect, it } from "vitest";
import { excerpt } from "../search/excerpt";
import { splitTags, suggestTags, suggestTitle } from "./draft-suggestions";

describe("a title for a text", () => {
  it.each([
    ["# nginx の上限\n\n本文", "nginx の上限"],
    ["**Raise** `worker_connections` first. Then reload.", "Raise worker_connections first"],
    ["接続数を増やします。次に再起動します。", "接続数を増やします"],
    ["```\ncode\n```\nThe cause was DNS [1].", "The cause was DNS"],
    ["- [docs](https://example.com) say so", "docs say so"],
    ["", ""],
  ])("%j", (content, title) => expect(suggestTitle(content)).toBe(title));

  it("is truncated by characters, not inside one", () => {
    const title = suggestTitle("𠮷".repeat(80));
    expect([...title]).toHaveLength(60);
    expect(title.endsWith("𠮷…")).toBe(true);
  });
});

describe("tags for a text", () => {
  it("are known tags that occur in it, as whole words in Latin script", () => {
    expect(suggestTags("Docker の検索が遅い。docker compose", ["go", "検索", "docker", "nginx"])).toEqual([
      "docker",
      "検索",
    ]);
    expect(suggestTags("a good day, C++ and c#", ["go", "c++", "c#"])).toEqual(["c++", "c#"]);
  });

  it("can be typed with commas of either language", () => {
    expect(splitTags("nginx, #docker、検索，")).toEqual(["nginx", "docker", "検索"]);
  });
});

describe("an excerpt", () => {
  it("is around the first highlight, with the ranges adjusted", () => {
    const text = `${"あ".repeat(300)}接続数${"い".repeat(300)}`;
    const found = excerpt(text, [[300, 303]], 100);
    const [start, end] = found.ranges[0] ?? [0, 0];
    expect([...found.text].slice(start, end).join("")).toBe("接続数");
    expect(found.text.startsWith("…")).toBe(true);
    expect([...found.text].length).toBeLessThanOrEqual(102);
  });
});
