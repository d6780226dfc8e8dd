import { defineText, plural } from "../language";

export const graphText = defineText({
  en: {
    byTopic: "By topic",
    byLinks: "By links",
    none: "No note links to another one yet. Write",
    example: "title of another note",
    how: "in the text of a note: both then appear here, connected.",
    hint: "Lines are links between notes. Drag to pan, scroll to zoom.",
    most: (shown: number, total: number) =>
      `The ${shown} notes with the most links, of ${plural(total, "linked note", "linked notes")}.`,
    label: (notes: number, links: number) =>
      `${plural(notes, "note", "notes")} and ${plural(links, "link", "links")} between them. The list beside it has the same notes.`,
    links: (n: number) => plural(n, "link", "links"),
  },
  ja: {
    byTopic: "内容の近さ",
    byLinks: "リンク",
    none: "ほかのメモへのリンクがまだありません。メモの本文に",
    example: "ほかのメモのタイトル",
    how: "と書くと、両方のメモが線でつながってここに表示されます。",
    hint: "線はメモの間のリンクです。ドラッグで移動、スクロールで拡大・縮小。",
    most: (shown: number, total: number) => `リンクのある ${total} 件のうち、リンクの多い ${shown} 件。`,
    label: (notes: number, links: number) =>
      `${notes} 件のメモと、その間の ${links} 本のリンク。隣の一覧に同じメモがあります。`,
    links: (n: number) => `リンク ${n}`,
  },
});
