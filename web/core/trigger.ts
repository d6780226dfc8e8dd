/** What the text before the caret asks for: prompts with `/` at the start of a message, resources with `@`. */
export interface Trigger {
  kind: "prompts" | "resources";
  /** Where the sign is. */
  start: number;
  /** What was typed after it. */
  query: string;
}

const PROMPT = /^[/／](\S{0,60})$/;
/** Not within an e-mail address; Japanese has no spaces before a word. */
const RESOURCE = /(?<![\w.%+-])[@＠]([^\s@＠]{0,60})$/;

export function triggerAt(text: string, caret: number): Trigger | null {
  const before = text.slice(0, caret);
  const prompt = PROMPT.exec(before);
  if (prompt) return { kind: "prompts", start: 0, query: prompt[1] ?? "" };
  const resource = RESOURCE.exec(before);
  return resource ? { kind: "resources", start: resource.index, query: resource[1] ?? "" } : null;
}

export interface Suggested {
  server: string;
  title: string;
  description: string;
}

/** The items that have the query in their texts, those whose title begins with it first. */
export function matching<Item extends Suggested>(items: readonly Item[], query: string, limit = 50): Item[] {
  const wanted = query.normalize("NFKC").toLowerCase();
  const plain = (text: string) => text.normalize("NFKC").toLowerCase();
  const found = items.filter((one) =>
    [one.title, one.server, one.description].some((text) => plain(text).includes(wanted)),
  );
  const first = found.filter((one) => plain(one.title).startsWith(wanted));
  return [...new Set([...first, ...found])].slice(0, limit);
}
