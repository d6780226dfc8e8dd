import "./answer-details.css";
import type { Usage } from "../../../core/events";
import { count, dollars } from "../../i18n/amounts";
import { defineText, useLanguage, useText } from "../../i18n/language";

const detailsText = defineText({
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

/** What an answer used and cost. */
export default function UsageDetails({ usage }: { usage: Usage }) {
  const t = useText(detailsText);
  const language = useLanguage();
  const cost =
    usage.cost === undefined ? t.unknown : usage.cost === 0 ? t.free : dollars(usage.cost, language);
  const rows: [string, string | number | undefined][] = [
    [t.model, usage.models?.join(", ")],
    [t.input, usage.input_tokens],
    [t.cached, usage.cached_tokens],
    [t.written, usage.cache_write_tokens],
    [t.output, usage.output_tokens],
    [t.reasoning, usage.reasoning_tokens],
    [t.cost, cost],
  ];
  return (
    <>
      <dl className="answer-usage">
        {rows.map(([name, value]) =>
          value === undefined ? null : (
            <Row key={name} name={name} value={typeof value === "number" ? count(value, language) : value} />
          ),
        )}
      </dl>
      {usage.estimated && <p className="muted small">{t.estimated}</p>}
    </>
  );
}

function Row({ name, value }: { name: string; value: string }) {
  return (
    <>
      <dt className="muted">{name}</dt>
      <dd>{value}</dd>
    </>
  );
}
