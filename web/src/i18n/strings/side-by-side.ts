import { defineText } from "../language";

export const sideBySideText = defineText({
  en: {
    sideBySide: "Side by side",
    compareWith: "Answer side by side with",
    oneAgent: "One agent only",
    beside: (name: string) => `Side by side with ${name}`,
    continueWith: "Continue with this answer",
    continued: "Your next question continues this answer.",
    close: (name: string) => `Close the answer of ${name}`,
  },
  ja: {
    sideBySide: "並べて表示",
    compareWith: "もう 1 つのエージェントと並べて回答",
    oneAgent: "1 つのエージェントだけ",
    beside: (name: string) => `${name} と並べて回答`,
    continueWith: "この回答で続ける",
    continued: "次の質問はこの回答に続きます。",
    close: (name: string) => `${name} の回答を閉じる`,
  },
});
