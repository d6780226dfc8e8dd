import { defineText, plural } from "../language";

export const usefulnessText = defineText({
  en: {
    shown: (n: number) => `found ${plural(n, "time", "times")}`,
    opened: (n: number) => `opened ${plural(n, "time", "times")}`,
    cited: (n: number) => `cited ${plural(n, "time", "times")}`,
    recalled: (n: number) => `recalled ${plural(n, "time", "times")}`,
    followed: (n: number) => `then read ${plural(n, "time", "times")}`,
    hint: "Counted per note, not per reader; each reader once in ten minutes.",
    mark_helpful: "Helpful",
    mark_wrong: "Wrong",
    record: "Record my searches",
    recordNote: (n: number) =>
      `For chie eval, visible only to you; admins too see those without an answer. ${plural(n, "search", "searches")} so far.`,
    recording:
      "Searches that end in a note are recorded from now on, for you alone. Those without an answer are listed in the review, for you and for admins.",
    notRecording: "Recording is off, and the recorded searches were deleted.",
  },
  ja: {
    shown: (n: number) => `検索結果に ${n} 回`,
    opened: (n: number) => `閲覧 ${n} 回`,
    cited: (n: number) => `回答での引用 ${n} 回`,
    recalled: (n: number) => `自動表示 ${n} 回`,
    followed: (n: number) => `うち閲覧 ${n} 回`,
    hint: "人ごとではなくメモごとの回数です。同じ人は 10 分に 1 回だけ数えます。",
    mark_helpful: "役に立った",
    mark_wrong: "間違いがある",
    record: "検索を記録する",
    recordNote: (n: number) =>
      `chie eval 用です。自分だけが使えます。答えのない検索は管理者にも見えます。現在 ${n} 件。`,
    recording:
      "これ以降、メモを開くに至った検索を記録します。使えるのは自分だけです。答えのない検索は、自分と管理者の見直しに表示されます。",
    notRecording: "記録をやめ、記録済みの検索を削除しました。",
  },
});
