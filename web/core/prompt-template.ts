/**
 * Variables in a saved prompt: `{{name}}` is asked for, `{{name=default}}` has a default, `{{name=one|two}}` is a choice,
 * and `{{today}}` is the reader's date. The same name is asked for once.
 */
interface Variable {
  name: string;
  /** Null where a value is required. */
  preset: string | null;
  choices: string[];
}

const VARIABLE = /\{\{\s*([^{}=|\n]{1,60}?)\s*(?:=([^{}\n]{0,1000}))?\}\}/g;
const TODAY = "today";

export function variablesIn(text: string): Variable[] {
  const found = new Map<string, Variable>();
  for (const [, name = "", given] of text.matchAll(VARIABLE)) {
    if (name === TODAY) continue;
    const known = found.get(name);
    // The first occurrence may be a plain one, and a later one have the choices.
    if (!known || (known.preset === null && given !== undefined)) found.set(name, variable(name, given));
  }
  return [...found.values()];
}

function variable(name: string, given: string | undefined): Variable {
  if (given === undefined) return { name, preset: null, choices: [] };
  const choices = given.split("|").map((one) => one.trim());
  return { name, preset: choices[0] ?? "", choices: choices.length > 1 ? choices : [] };
}

/** The text with values in place of its variables. Values are inserted as they are, braces and all. */
export function filledIn(
  text: string,
  values: Record<string, string>,
  today = localDate(new Date()),
): string {
  return text.replace(VARIABLE, (_, name: string) => (name === TODAY ? today : (values[name] ?? "")));
}

/** By the reader's calendar: "2026-11-16". */
export function localDate(moment: Date): string {
  const two = (part: number) => String(part).padStart(2, "0");
  return `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`;
}
