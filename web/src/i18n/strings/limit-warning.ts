import { defineText } from "../language";

export const warningText = defineText({
  en: {
    user: (percent: string, day: string) =>
      `You have used ${percent} of your limit for this month. It renews on ${day} (UTC).`,
    team: (percent: string, day: string) =>
      `The team has used ${percent} of its limit for this month. It renews on ${day} (UTC).`,
    userReached: (day: string) =>
      `Your limit for this month is used up. It renews on ${day} at 00:00 UTC; an admin can raise it.`,
    teamReached: (day: string) =>
      `The team's limit for this month is used up. It renews on ${day} at 00:00 UTC; an admin can raise it.`,
    details: "Usage",
  },
  ja: {
    user: (percent: string, day: string) =>
      `今月の上限の ${percent} を使いました。${day}（UTC）に更新されます。`,
    team: (percent: string, day: string) =>
      `チームの今月の上限の ${percent} を使いました。${day}（UTC）に更新されます。`,
    userReached: (day: string) =>
      `今月の上限に達しました。${day} 0:00（UTC）に更新されます。引き上げは管理者に依頼してください。`,
    teamReached: (day: string) =>
      `チームの今月の上限に達しました。${day} 0:00（UTC）に更新されます。引き上げは管理者に依頼してください。`,
    details: "使用量",
  },
});
