import type { Language } from "./language";

/** "$1.23"; small amounts keep the digits that say something: "$0.0012". */
export function dollars(amount: number, language: Language): string {
  const small = amount > 0 && amount < 0.1;
  return new Intl.NumberFormat(language, {
    style: "currency",
    currency: "USD",
    ...(small ? { maximumSignificantDigits: 2 } : {}),
  }).format(amount);
}

export function count(amount: number, language: Language): string {
  return new Intl.NumberFormat(language).format(amount);
}

/** "$1.2K" for the axis of a chart. */
export function shortDollars(amount: number, language: Language): string {
  if (amount < 1000) return dollars(amount, language);
  const style = { style: "currency", currency: "USD", notation: "compact" } as const;
  return new Intl.NumberFormat(language, { ...style, maximumFractionDigits: 1 }).format(amount);
}

/** "1.2M", 「120万」, for the axis of a chart. */
export function short(amount: number, language: Language): string {
  return new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 1 }).format(amount);
}
