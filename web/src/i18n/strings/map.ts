import { defineText, plural } from "../language";

export const mapText = defineText({
  en: {
    byTopic: "By topic",
    byLinks: "By links",
    noLinks: "No note links to another one yet. Write",
    linkExample: "title of another note",
    linkHow: "in the text of a note: both then appear here, connected.",
    linksHint: "Lines are links between notes. Drag to pan, scroll to zoom.",
    mostLinked: (shown: number, total: number) =>
      `The ${shown} notes with the most links, of ${plural(total, "linked note", "linked notes")}.`,
    linksLabel: (notes: number, links: number) =>
      `${plural(notes, "note", "notes")} and ${plural(links, "link", "links")} between them. The list beside it has the same notes.`,
    linkCount: (n: number) => plural(n, "link", "links"),
    topicsLabel: (n: number) =>
      `Map of ${plural(n, "note", "notes")}. The list beside it has the same notes.`,
    topicsHint: "Similar notes appear close together. Drag to pan, scroll to zoom.",
    newest: (shown: number, total: number) => `The newest ${shown} of ${total} notes.`,
    tooFew: "The map needs at least two notes.",
    zoomIn: "Zoom in",
    zoomOut: "Zoom out",
    showAll: "Show all",
    otherTags: "Other",
    inView: (n: number) => `${plural(n, "note", "notes")} in view`,
    loading: "Loading the map…",
  },
  ja: {
    byTopic: "内容の近さ",
    byLinks: "リンク",
    noLinks: "ほかのメモへのリンクがまだありません。メモの本文に",
    linkExample: "ほかのメモのタイトル",
    linkHow: "と書くと、両方のメモが線でつながってここに表示されます。",
    linksHint: "線はメモの間のリンクです。ドラッグで移動、スクロールで拡大・縮小。",
    mostLinked: (shown: number, total: number) =>
      `リンクのある ${total} 件のうち、リンクの多い ${shown} 件。`,
    linksLabel: (notes: number, links: number) =>
      `${notes} 件のメモと、その間の ${links} 本のリンク。隣の一覧に同じメモがあります。`,
    linkCount: (n: number) => `リンク ${n}`,
    topicsLabel: (n: number) => `${n} 件のメモのマップ。隣の一覧に同じメモがあります。`,
    topicsHint: "内容の近いメモほど近くに並びます。ドラッグで移動、スクロールで拡大・縮小。",
    newest: (shown: number, total: number) => `全 ${total} 件のうち新しい ${shown} 件。`,
    tooFew: "マップを表示するには 2 件以上のメモが必要です。",
    zoomIn: "拡大",
    zoomOut: "縮小",
    showAll: "全体を表示",
    otherTags: "その他",
    inView: (n: number) => `表示範囲に ${n} 件`,
    loading: "マップを読み込み中…",
  },
});
