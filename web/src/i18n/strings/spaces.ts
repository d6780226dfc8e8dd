import { defineText, plural } from "../language";

export const spacesText = defineText({
  en: {
    space: "Space",
    spaces: "Spaces",
    allSpaces: "All spaces",
    manage: "Spaces…",
    lead: "A space has notes that only some people may read or write. Admins may do both everywhere.",
    spaceNote: "Who may read the note. Moving it needs write access to both spaces.",
    name: "Name",
    nameNote: "Lower-case letters, digits and hyphens.",
    create: "Create space",
    everybody: "Everybody",
    user: "User",
    addUser: "Add user",
    access: (who: string, space: string) => `Access of ${who} to ${space}`,
    none: "No access",
    read: "May read",
    write: "May write",
    notes: (n: number) => plural(n, "note", "notes"),
    remove: (space: string) => `Delete ${space}`,
    confirm: (n: number) =>
      n === 0
        ? "Delete this space, and move its deleted notes and earlier versions, if any, to the team?"
        : `Delete this space, and move ${plural(n, "note", "notes")}, deleted notes and earlier versions to the team?`,
    doRemove: "Delete space",
    cancel: "Cancel",
  },
  ja: {
    space: "スペース",
    spaces: "スペース",
    allSpaces: "すべてのスペース",
    manage: "スペースの管理…",
    lead: "スペースごとに、メモを読める人と書き込める人を決められます。管理者はすべてのスペースで読み書きできます。",
    spaceNote: "メモを読める人の範囲です。移すには、両方のスペースへの書き込み権限が必要です。",
    name: "名前",
    nameNote: "英小文字、数字、ハイフンが使えます。",
    create: "スペースを作成",
    everybody: "全員",
    user: "ユーザー",
    addUser: "ユーザーを追加",
    access: (who: string, space: string) => `${space} での ${who} の権限`,
    none: "権限なし",
    read: "閲覧のみ",
    write: "読み書き",
    notes: (n: number) => `メモ ${n} 件`,
    remove: (space: string) => `${space} を削除`,
    confirm: (n: number) =>
      n === 0
        ? "このスペースを削除し、ごみ箱と過去のバージョンがあればチームに移しますか？"
        : `このスペースを削除し、メモ ${n} 件、ごみ箱、過去のバージョンをチームに移しますか？`,
    doRemove: "スペースを削除",
    cancel: "キャンセル",
  },
});
