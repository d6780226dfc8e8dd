import { expect, test } from "vitest";

const sources = import.meta.glob<string>(["../**/*.ts", "../**/*.tsx", "!../**/*.test.ts"], {
  query: "?raw",
  import: "default",
  eager: true,
});

/** TypeScript keeps people from showing a `ServerText`; these are the two ways around it. */
test("nobody shows an error's own words, and nobody but the catalogue opens a text of the house", () => {
  const ways = /\b(?:error|failure|caught|reason|problem)\??\.message\b|as unknown as string/;
  const allowed = new Set(["./told.tsx", "../api.ts"]);
  const found = Object.entries(sources).filter(([name, text]) => !allowed.has(name) && ways.test(text));
  expect(Object.keys(sources).length).toBeGreaterThan(60);
  expect(found.map(([name]) => name)).toEqual([]);
});
