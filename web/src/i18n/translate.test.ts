import { expect, test } from "vitest";

const sources = import.meta.glob<string>(["../**/*.ts", "../**/*.tsx", "!../**/*.test.ts"], {
  query: "?raw",
  import: "default",
  eager: true,
});

/** One place to look for a sentence: `strings`. Kana are a sign of text wherever it stands. */
test("no file but those of strings has texts for the reader", () => {
  const found = Object.entries(sources).filter(
    ([name, text]) => !name.startsWith("./") && /\bdefineText\(|[\u3041-\u30ff]/.test(text),
  );
  expect(found.map(([name]) => name)).toEqual([]);
});

/** TypeScript keeps a `ServerText` from being shown untranslated; these are the two ways around it. */
test("no component shows an error's own message or casts a server text to a string", () => {
  const bypasses = /\b(?:error|failure|caught|reason|problem)\??\.message\b|as unknown as string/;
  const found = Object.entries(sources).filter(([name, text]) => name !== "../api.ts" && bypasses.test(text));
  expect(Object.keys(sources).length).toBeGreaterThan(60);
  expect(found.map(([name]) => name)).toEqual([]);
});
