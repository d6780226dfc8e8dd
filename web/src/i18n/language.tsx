import { createContext, type ReactNode, useContext, useEffect } from "react";
import { Stored, useStored } from "../stored";

/**
 * Two languages, and no keys to look up: a feature's file holds `defineText({ en, ja })`, a component says
 * `const t = useText(chatText)` and reads `t.send`. A key that one language lacks is a type error.
 * What counts things is a function: `found: (n: number) => ...`.
 */
export type Language = "en" | "ja";
export const LANGUAGES: readonly Language[] = ["en", "ja"];

type Entry = string | ((...values: never[]) => string);
type Wide<T> = { [K in keyof T]: T[K] extends string ? string : T[K] };
export type Text<T> = { en: T; ja: Wide<T> };

export function defineText<T extends Record<string, Entry>>(text: { en: T; ja: Wide<T> }): Text<T> {
  return text;
}

/** `one` and `many` for English; Japanese does not ask. */
export function plural(count: number, one: string, many: string): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

function browserLanguage(): Language {
  const wanted = navigator.languages.find((tag) => /^(ja|en)\b/i.test(tag)) ?? "en";
  return wanted.toLowerCase().startsWith("ja") ? "ja" : "en";
}

export const language = new Stored<Language>("chie.language", LANGUAGES, browserLanguage());

const Context = createContext<Language>("en");

export function LanguageProvider({ children }: { children: ReactNode }) {
  const value = useStored(language);
  useEffect(() => {
    document.documentElement.lang = value;
  }, [value]);
  return <Context value={value}>{children}</Context>;
}

export function useLanguage(): Language {
  return useContext(Context);
}

export function useText<T>(text: Text<T>): Wide<T> {
  return text[useLanguage()] as Wide<T>;
}
