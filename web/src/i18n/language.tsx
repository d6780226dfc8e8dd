import { createContext, type ReactNode, useContext, useEffect } from "react";
import { StoredSetting, useStoredSetting } from "../stored-setting";

/**
 * The page's own texts in two languages. A feature defines them with `defineText({ en, ja })`; a component reads them
 * with `const t = useText(chatText)` and `t.send`. A key missing in one language is a type error. Texts with values
 * are functions: `found: (n: number) => ...`.
 */
export type Language = "en" | "ja";
export const LANGUAGES: readonly Language[] = ["en", "ja"];

type Entry = string | ((...values: never[]) => string);
type Wide<T> = { [K in keyof T]: T[K] extends string ? string : T[K] };
export type Text<T> = { en: T; ja: Wide<T> };

export function defineText<T extends Record<string, Entry>>(text: { en: T; ja: Wide<T> }): Text<T> {
  return text;
}

/** The English singular or plural; Japanese has no such distinction. */
export function plural(count: number, one: string, many: string): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

function browserLanguage(): Language {
  const wanted = navigator.languages.find((tag) => /^(ja|en)\b/i.test(tag)) ?? "en";
  return wanted.toLowerCase().startsWith("ja") ? "ja" : "en";
}

export const language = new StoredSetting<Language>("chie.language", LANGUAGES, browserLanguage());

const Context = createContext<Language>("en");

export function LanguageProvider({ children }: { children: ReactNode }) {
  const value = useStoredSetting(language);
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
