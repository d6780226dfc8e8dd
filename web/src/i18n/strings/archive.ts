import { defineText } from "../language";

export const archiveText = defineText({
  en: {
    lead: "They are not in the list, but a search finds them. A new question brings a conversation back.",
    none: "Nothing is archived",
    noneLead: "Archive a conversation from its menu in the list.",
    search: "Search archived conversations",
    restoreNamed: (title: string) => `Restore “${title}”`,
    removeNamed: (title: string) => `Delete “${title}”`,
    archivedOn: (date: string) => `Archived ${date}`,
    restored: (title: string) => `“${title}” is back in the list.`,
    more: "Show more",
  },
  ja: {
    lead: "一覧には表示されませんが、検索では見つかります。質問を続けると一覧に戻ります。",
    none: "アーカイブした会話はありません",
    noneLead: "一覧の各会話のメニューからアーカイブできます。",
    search: "アーカイブした会話を検索",
    restoreNamed: (title: string) => `「${title}」を一覧に戻す`,
    removeNamed: (title: string) => `「${title}」を削除`,
    archivedOn: (date: string) => `${date}にアーカイブ`,
    restored: (title: string) => `「${title}」を一覧に戻しました。`,
    more: "さらに表示",
  },
});
