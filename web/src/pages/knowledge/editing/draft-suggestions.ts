/** Suggests a title and tags for a text; the writer reviews them before saving. */

const MAX_TITLE = 60;
const MAX_TAGS = 4;

/** The first heading, or else the first sentence, without Markdown. */
export function suggestTitle(content: string): string {
  const lines = content
    .replace(/```[\s\S]*?(```|$)/g, "")
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  const heading = lines.find((line) => /^#{1,6}\s/.test(line));
  const line = plain(heading ?? lines[0] ?? "");
  const sentence = line.match(/^.*?[。！？!?]|^.*?\.(?=\s|$)/u)?.[0] ?? line;
  const characters = [...sentence.replace(/\s*[。.：:]$/u, "")];
  return characters.length > MAX_TITLE
    ? `${characters.slice(0, MAX_TITLE - 1).join("")}…`
    : characters.join("");
}

function plain(line: string): string {
  return line
    .replace(/^(#{1,6}|[-*+>]|\d+\.)\s+/, "")
    .replace(/\[(\d+)\]/g, "")
    .replace(/!?\[([^[\]]*)\]\([^()]*\)/g, "$1")
    .replace(/[*`~]+|(?<!\w)_+|_+(?!\w)/g, "")
    .trim();
}

/** Existing tags that occur in the text, most frequent first. */
export function suggestTags(content: string, known: readonly string[]): string[] {
  const text = content.normalize("NFKC").toLowerCase();
  return known
    .map((tag) => ({ tag, count: occurrences(text, tag.normalize("NFKC").toLowerCase()) }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count)
    .slice(0, MAX_TAGS)
    .map(({ tag }) => tag);
}

/** Latin tags match whole words only ("go" is not in "good"); Japanese has no word boundaries. */
function occurrences(text: string, tag: string): number {
  if (!tag) return 0;
  const escaped = tag.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const pattern = /^[\x20-\x7e]+$/.test(tag) ? `(?<![a-z0-9])${escaped}(?![a-z0-9])` : escaped;
  return text.match(new RegExp(pattern, "g"))?.length ?? 0;
}

/** Accepts commas of either language, and a leading hash. */
export function splitTags(text: string): string[] {
  return text
    .split(/[,、，\n]/)
    .map((tag) => tag.trim().replace(/^#/, ""))
    .filter(Boolean);
}
