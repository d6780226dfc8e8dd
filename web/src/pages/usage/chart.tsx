import { useId } from "react";
import { count, dollars, short, shortDollars } from "../../i18n/amounts";
import { monthName } from "../../i18n/dates";
import { useLanguage, useText } from "../../i18n/language";
import { usageText } from "../../i18n/strings/usage";
import { daysIn, type Group } from "./usage";

export type Unit = "cost" | "tokens";

const WIDTH = 620;
const HEIGHT = 180;
const LEFT = 62;
const BOTTOM = 20;
const TOP = 8;

function amountOf(group: Pick<Group, "cost" | "input_tokens" | "output_tokens">, unit: Unit): number {
  return unit === "cost" ? group.cost : group.input_tokens + group.output_tokens;
}

/** Bars by day. Screen readers get a sentence, and the table below has every number. */
export function DayChart({ days, month, unit }: { days: readonly Group[]; month: string; unit: Unit }) {
  const t = useText(usageText);
  const language = useLanguage();
  const title = useId();
  const total = daysIn(month);
  const amounts = new Map(days.map((day) => [Number(day.name.slice(8)), amountOf(day, unit)]));
  const top = niceTop(Math.max(...amounts.values(), 0));
  const [peak, value] = [...amounts].reduce((a, b) => (b[1] > a[1] ? b : a), [1, 0]);
  const show = (amount: number) => (unit === "cost" ? dollars(amount, language) : count(amount, language));
  const axis = (amount: number) =>
    unit === "cost" ? shortDollars(amount, language) : short(amount, language);
  const step = (WIDTH - LEFT) / total;
  const y = (amount: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - (top ? amount / top : 0));
  const label = new Intl.DateTimeFormat(language, { month: "long", day: "numeric", timeZone: "UTC" });
  const dayName = (day: number) => label.format(new Date(`${month}-${String(day).padStart(2, "0")}T00:00Z`));
  return (
    <svg className="us-chart" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-labelledby={title}>
      <title id={title}>{t.chart(t[unit], monthName(month, language), dayName(peak), show(value))}</title>
      {[0, top / 2, top].map((tick) => (
        <g key={tick}>
          <line className="us-grid" x1={LEFT} x2={WIDTH} y1={y(tick)} y2={y(tick)} />
          <text className="us-axis" x={LEFT - 6} y={y(tick) + 4} textAnchor="end">
            {axis(tick)}
          </text>
        </g>
      ))}
      {Array.from({ length: total }, (_, index) => index + 1).map((day) => {
        const amount = amounts.get(day) ?? 0;
        const height = Math.max(y(0) - y(amount), amount > 0 ? 1.5 : 0);
        return (
          <g key={day}>
            <rect
              className="us-bar"
              x={LEFT + (day - 1) * step + step * 0.15}
              y={y(0) - height}
              width={step * 0.7}
              height={height}
              rx={2}
            >
              <title>{`${dayName(day)}: ${show(amount)}`}</title>
            </rect>
            {(day === 1 || day % 5 === 0) && (
              <text className="us-axis" x={LEFT + (day - 0.5) * step} y={HEIGHT - 4} textAnchor="middle">
                {day}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}

/** The next of 1, 2 and 5 times a power of ten. */
function niceTop(most: number): number {
  if (most <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  return ([1, 2, 5, 10].find((step) => step * power >= most) ?? 10) * power;
}
