import { defineText } from "../language";

export const detailsText = defineText({
  en: {
    model: "Model",
    input: "Input tokens",
    cached: "read from the cache",
    written: "written to the cache",
    output: "Output tokens",
    reasoning: "for reasoning",
    cost: "Cost",
    unknown: "unknown",
    free: "free",
    estimated: "Estimated: the server did not count, or the answer was cut off.",
  },
  ja: {
    model: "モデル",
    input: "入力トークン",
    cached: "キャッシュから読み取り",
    written: "キャッシュに書き込み",
    output: "出力トークン",
    reasoning: "うち推論",
    cost: "費用",
    unknown: "不明",
    free: "無料",
    estimated: "見積もりです。サーバーが数えていないか、回答が途中で終わりました。",
  },
});
