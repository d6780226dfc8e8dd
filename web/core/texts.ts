/**
 * Sentences of the house in another language. The house speaks English; a catalogue maps each of its sentences, with
 * holes for the values, to ours: `"{name} is required": "{name} は必須です"`. What no entry fits stays as it is, so that
 * the words of a model's provider or of n8n are never touched.
 */
declare const told: unique symbol;

/** Text from the house. It is a string, but not for TypeScript: nobody shows it without asking the catalogue. */
export interface ServerText {
  readonly [told]: true;
}

export function serverText(text: string): ServerText {
  return text as unknown as ServerText;
}

interface Template {
  /** What stands before, between and after the holes. */
  literals: string[];
  names: string[];
  translation: string;
  letters: number;
}

const LONGEST = 4_000;
const MOST_SPLITS = 40;
const MOST_KEPT = 500;
/** A template with fewer letters says too little to be sure of it by itself. */
const FEW_LETTERS = 12;

const JAPANESE = /[\u3000-\u30ff\u4e00-\u9fff\uff00-\uff60]/;
const PROSE = /[a-z]{2,} [a-z]{2,}/;
const SEVERAL = /[.;] /;

export class Catalogue {
  readonly #exact = new Map<string, string>();
  readonly #strong: Template[];
  readonly #weak: Template[];
  readonly #glue: Template[];
  readonly #known = new Map<string, string | null>();

  constructor(entries: Record<string, string>) {
    const templates: Template[] = [];
    for (const [key, translation] of Object.entries(entries)) {
      if (/\{\w+\}/.test(key)) templates.push(compile(key, translation));
      else this.#exact.set(key, translation);
    }
    templates.sort((a, b) => b.letters - a.letters);
    this.#strong = templates.filter(({ letters }) => letters >= FEW_LETTERS);
    this.#weak = templates.filter(({ letters }) => letters > 0 && letters < FEW_LETTERS);
    this.#glue = templates.filter(({ letters }) => letters === 0);
  }

  translate(text: ServerText): string {
    const english = text as unknown as string;
    return english.length > LONGEST ? english : (this.#find(english) ?? english);
  }

  #find(text: string): string | null {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const found = this.#strict(text) ?? this.#fit(this.#strong, text, true);
    if (this.#known.size >= MOST_KEPT) this.#known.clear();
    this.#known.set(text, found);
    return found;
  }

  /** Templates that say little come last: "x is required; y must be a list" is two texts, not one about "x is…". */
  #strict(text: string): string | null {
    const whole = this.#exact.get(text) ?? this.#fit(this.#strong, text, false) ?? this.#sentences(text);
    return whole ?? this.#fit(this.#weak, text, false) ?? this.#fit(this.#glue, text, false);
  }

  #sentence(text: string): string | null {
    return this.#exact.get(text) ?? this.#fit([...this.#strong, ...this.#weak], text, false);
  }

  /** The template with the most letters wins. `loose` lets a hole hold several sentences that nobody knows. */
  #fit(templates: Template[], text: string, loose: boolean): string | null {
    for (const template of templates) {
      if (!mayFit(template, text)) continue;
      let best: (string | null)[] | null = null;
      let values: string[] = [];
      for (const split of splits(template, text)) {
        const found = split.map((value) => this.#find(value));
        if (best && fitting(found) <= fitting(best)) continue;
        if (isSure(template, split, found, loose)) [best, values] = [found, split];
      }
      if (best)
        return filled(
          template,
          best.map((value, place) => value ?? values[place] ?? ""),
        );
    }
    return null;
  }

  /** Several sentences, or faults with a semicolon between, each of which is known. */
  #sentences(text: string): string | null {
    for (const { index } of text.matchAll(/[.;?] /g)) {
      const head = text.slice(0, text[index] === ";" ? index : index + 1);
      const first = this.#sentence(head);
      const rest = first === null ? null : this.#find(text.slice(index + 2));
      if (first !== null && rest !== null) return ended(first) + rest;
    }
    if (!text.endsWith(".")) return null;
    const bare = this.#sentence(text.slice(0, -1));
    return bare === null ? null : ended(bare);
  }
}

function compile(key: string, translation: string): Template {
  const parts = key.split(/\{(\w+)\}/);
  const literals = parts.filter((_, place) => place % 2 === 0);
  const names = parts.filter((_, place) => place % 2 === 1);
  const letters = literals.join("").replace(/[^A-Za-z]/g, "").length;
  return { literals, names, translation, letters };
}

function mayFit({ literals }: Template, text: string): boolean {
  return text.startsWith(literals[0] ?? "") && text.endsWith(literals.at(-1) ?? "");
}

/** Every way to give the holes their values, the shortest first; a few will do. */
function splits({ literals }: Template, text: string): string[][] {
  const found: string[][] = [];
  const end = text.length - (literals.at(-1)?.length ?? 0);
  const go = (hole: number, from: number, values: string[]): void => {
    if (found.length >= MOST_SPLITS) return;
    if (hole === literals.length - 1) {
      if (from <= end) found.push([...values, text.slice(from, end)]);
      return;
    }
    const literal = literals[hole] ?? "";
    for (let at = text.indexOf(literal, from); at >= 0; at = text.indexOf(literal, at + 1)) {
      if (at + literal.length > end || found.length >= MOST_SPLITS) return;
      go(hole + 1, at + literal.length, [...values, text.slice(from, at)]);
    }
  };
  const start = literals[0]?.length ?? 0;
  if (start <= end) go(1, start, []);
  return found;
}

function isSure({ letters }: Template, values: string[], found: (string | null)[], loose: boolean): boolean {
  const unknown = values.filter((_, place) => found[place] === null);
  if (letters === 0) return fitting(found) > 0;
  if (letters < FEW_LETTERS) return !unknown.some((value) => PROSE.test(value) || SEVERAL.test(value));
  return loose || !unknown.some((value) => SEVERAL.test(value));
}

function fitting(found: (string | null)[]): number {
  return found.filter((value) => value !== null).length;
}

/** Japanese stands off from Latin letters by a space, and not from Japanese. */
function filled({ names, translation }: Template, values: string[]): string {
  return translation.replace(/( ?)\{(\w+)\}( ?)/g, (whole, before: string, name: string, after: string) => {
    const value = values[names.indexOf(name)];
    if (value === undefined) return whole;
    return (
      (JAPANESE.test(value.charAt(0)) ? "" : before) + value + (JAPANESE.test(value.slice(-1)) ? "" : after)
    );
  });
}

function ended(sentence: string): string {
  return /[。？！]$/.test(sentence) ? sentence : `${sentence}。`;
}
