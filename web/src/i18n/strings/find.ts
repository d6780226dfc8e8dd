import { defineText, plural } from "../language";

export const findText = defineText({
  en: {
    field: "Find in this conversation",
    next: "Next match (Enter)",
    previous: "Previous match (Shift + Enter)",
    close: "Close (Esc)",
    none: "No matches",
    count: (at: number, total: number) => `${at} / ${total}`,
    spoken: (at: number, total: number) => `Match ${at} of ${plural(total, "match", "matches")}`,
  },
  ja: {
    field: "この会話の中を検索",
    next: "次の一致 (Enter)",
    previous: "前の一致 (Shift + Enter)",
    close: "閉じる (Esc)",
    none: "見つかりません",
    count: (at: number, total: number) => `${at} / ${total}`,
    spoken: (at: number, total: number) => `${total} 件中 ${at} 件目`,
  },
});
