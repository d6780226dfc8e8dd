/**
 * Texts from the server. Each arrives in English with a code and parameters; the catalogue of another language maps
 * the code to a template. `chie/messages/catalogue.py` fills the same templates in the same way.
 */
declare const untranslated: unique symbol;

/** A string on the wire, opaque to TypeScript, so that nothing shows it without translating it. */
export interface ServerText {
  readonly [untranslated]: true;
}

type Param = string | number | boolean | null | NestedMessage | readonly (string | NestedMessage)[];
export type Params = Readonly<Record<string, Param>>;

interface NestedMessage {
  code: string;
  params: Params;
  text: string;
}

/** A text without a code is foreign, such as a model provider's own error, and is shown as it is. */
export interface ServerMessage {
  text: ServerText;
  code?: string | null;
  params?: Params | null;
}

/** Code to template. */
export type Catalogue = Readonly<Record<string, string>>;

type Siblings<Field extends string> = { [K in `${Field}_code`]?: string | null } & {
  [K in `${Field}_params`]?: Params | null;
};

/** An object of the API with server texts in these fields. */
export type WithText<Field extends string> = { [K in Field]: ServerText } & Siblings<Field>;
/** The same for fields that may be null or absent. */
export type WithOptionalText<Field extends string> = { [K in Field]?: ServerText | null } & Siblings<Field>;

/** One text field of an API object, with its `<field>_code` and `<field>_params`. */
export function messageIn<Field extends string>(
  object: WithText<NoInfer<Field>>,
  field: Field,
): ServerMessage;
export function messageIn<Field extends string>(
  object: WithOptionalText<NoInfer<Field>>,
  field: Field,
): ServerMessage | null;
export function messageIn(object: object, field: string): ServerMessage | null {
  const fields = object as Record<string, unknown>;
  const text = fields[field] as ServerText | null | undefined;
  if (text === null || text === undefined) return null;
  return {
    text,
    code: fields[`${field}_code`] as string | null | undefined,
    params: fields[`${field}_params`] as Params | null | undefined,
  };
}

type Collection<T> = readonly T[] | Readonly<Record<string, T>>;

/** An object of the API whose field is a list or a record of texts, with collections of the same shape beside it. */
export type WithTexts<Field extends string> = { [K in Field]: Collection<ServerText> } & {
  [K in `${Field}_code`]?: Collection<string | null> | null;
} & { [K in `${Field}_params`]?: Collection<Params | null> | null };

/** The texts of such a field by their key, or by their index. */
export function messagesIn<Field extends string>(
  object: WithTexts<NoInfer<Field>>,
  field: Field,
): [string, ServerMessage][] {
  const fields = object as Record<string, Record<string, unknown> | null | undefined>;
  return Object.entries(fields[field] ?? {}).map(([key, text]) => [
    key,
    {
      text: text as ServerText,
      code: fields[`${field}_code`]?.[key] as string | null | undefined,
      params: fields[`${field}_params`]?.[key] as Params | null | undefined,
    },
  ]);
}

export function serverText(text: string): ServerText {
  return text as unknown as ServerText;
}

/** The text in the catalogue's language, or in English where the catalogue has no template that can be filled. */
export function translate({ text, code, params }: ServerMessage, catalogue: Catalogue): string {
  return fromCatalogue(code, params, catalogue) ?? inEnglish({ text });
}

export function inEnglish({ text }: ServerMessage): string {
  return text as unknown as string;
}

function fromCatalogue(
  code: string | null | undefined,
  params: Params | null | undefined,
  catalogue: Catalogue,
): string | null {
  if (!code || !Object.hasOwn(catalogue, code)) return null;
  return filled(catalogue[code] ?? "", params ?? {}, catalogue);
}

const JAPANESE = /[\u3000-\u30ff\u4e00-\u9fff\uff00-\uff60]/;
/** A doubled brace, or a placeholder such as `{name}` or `{count:,}` with the spaces around it. */
const TOKEN = /\{\{|\}\}|( ?)\{(\w+)(:,)?\}( ?)/g;

/** Null where a parameter is missing. */
function filled(template: string, params: Params, catalogue: Catalogue): string | null {
  let complete = true;
  const text = template.replace(
    TOKEN,
    (token: string, before = "", name?: string, grouped?: string, after = "") => {
      if (name === undefined) return token.charAt(0);
      const value = params[name];
      if (value === undefined || value === null) {
        complete = false;
        return token;
      }
      return spaced(before, shown(value, grouped !== undefined, catalogue), after);
    },
  );
  return complete ? text : null;
}

/** Japanese text is set off from Latin letters by a space, and not from other Japanese text. */
function spaced(before: string, value: string, after: string): string {
  if (!value) return before && after;
  return (
    (JAPANESE.test(value.charAt(0)) ? "" : before) + value + (JAPANESE.test(value.slice(-1)) ? "" : after)
  );
}

function shown(value: NonNullable<Param>, grouped: boolean, catalogue: Catalogue): string {
  if (typeof value === "number" && grouped) return value.toLocaleString("en");
  if (typeof value !== "object") return String(value);
  return isList(value) ? joined(value, catalogue) : nested(value, catalogue);
}

function isList(value: object): value is readonly (string | NestedMessage)[] {
  return Array.isArray(value);
}

function nested({ code, params, text }: NestedMessage, catalogue: Catalogue): string {
  return fromCatalogue(code, params, catalogue) ?? text;
}

/** Names are enumerated; sentences follow each other. */
function joined(values: readonly (string | NestedMessage)[], catalogue: Catalogue): string {
  const texts = values.map((value) => (typeof value === "string" ? value : nested(value, catalogue)));
  const sentences = values.some((value) => typeof value !== "string");
  return sentences ? texts.map((text) => text.replace(/。$/, "")).join("。") : texts.join("、");
}
