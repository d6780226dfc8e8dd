import { defineText } from "../language";

export const paletteText = defineText({
  en: {
    title: "Command palette",
    field: "Search pages, conversations, notes and commands…",
    commands: "Commands",
    notes: "Notes",
    none: "No matches.",
    hint: "↑ ↓ to select · Enter to run · Esc to close",
    goTo: (page: string) => `Go to ${page}`,
    switchLanguage: "日本語に切り替える",
    light: "Light theme",
    dark: "Dark theme",
    system: "System theme",
  },
  ja: {
    title: "コマンドパレット",
    field: "ページ・会話・メモ・コマンドを検索…",
    commands: "コマンド",
    notes: "メモ",
    none: "該当するものがありません。",
    hint: "↑ ↓ で選択・Enter で実行・Esc で閉じる",
    goTo: (page: string) => `${page}へ移動`,
    switchLanguage: "Switch to English",
    light: "ライトテーマ",
    dark: "ダークテーマ",
    system: "システムのテーマに合わせる",
  },
});
