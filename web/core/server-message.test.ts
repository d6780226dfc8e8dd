import { describe, expect, test } from "vitest";
import {
  type Catalogue,
  messageIn,
  messagesIn,
  type Params,
  serverText,
  translate,
  type WithOptionalText,
  type WithText,
} from "./server-message";

const CATALOGUE: Catalogue = {
  "chat.session_not_found": "この ID の会話はありません。",
  "knowledge.content_too_long": "本文が長すぎます（{length:,} 文字、上限 {limit:,} 文字）。",
  "knowledge.saved_without_meaning": "保存しました。単語でのみ検索できます：{reason}",
  "model.http_status": "{url} の応答は {status} でした。{hint}",
  "model.wait": "少しお待ちください。",
  "arguments.invalid": "引数が正しくありません。{problems}。",
  "arguments.required": "{name} は必須です。",
  "arguments.wrong_type": "{name} は {type} でなければなりません。",
  "arguments.list": "リスト",
  "tools.unknown": "使えるツール：{names}",
  "program.ended": "プログラム {command} が終了しました。{output} 直してください。",
  "agents.template": "`{{name}}` を {name} に置き換えます。",
};

const english = "The English text.";
const say = (code: string | null, params: Params = {}) =>
  translate({ text: serverText(english), code, params }, CATALOGUE);
const nested = (code: string, params: Params = {}, text = "English inside.") => ({ code, params, text });

describe("a server message in Japanese", () => {
  test("is the template of its code", () => {
    expect(say("chat.session_not_found")).toBe("この ID の会話はありません。");
  });

  test("has its parameters filled in, with thousands separators where the template asks for them", () => {
    expect(say("knowledge.content_too_long", { length: 100_001, limit: 100_000 })).toBe(
      "本文が長すぎます（100,001 文字、上限 100,000 文字）。",
    );
    expect(say("model.http_status", { url: "http://a/v1", status: 429, hint: "" })).toBe(
      "http://a/v1 の応答は 429 でした。",
    );
  });

  test("is the English text for an unknown code, for none, and where a parameter is missing", () => {
    expect(say("chat.of_a_newer_version")).toBe(english);
    expect(say(null)).toBe(english);
    expect(say("toString")).toBe(english);
    expect(say("arguments.required", {})).toBe(english);
    expect(translate({ text: serverText(english) }, CATALOGUE)).toBe(english);
  });

  test("translates nested messages, and keeps the English of those it does not know", () => {
    const hint = nested("model.wait");
    const reason = nested("model.http_status", { url: "http://a/v1", status: 429, hint });
    expect(say("knowledge.saved_without_meaning", { reason })).toBe(
      "保存しました。単語でのみ検索できます：http://a/v1 の応答は 429 でした。少しお待ちください。",
    );
    expect(say("knowledge.saved_without_meaning", { reason: nested("model.new", {}, "Try later.") })).toBe(
      "保存しました。単語でのみ検索できます：Try later.",
    );
  });

  test("joins names with commas and sentences with full stops", () => {
    expect(say("tools.unknown", { names: ["search", "save"] })).toBe("使えるツール：search、save");
    const problems = [
      nested("arguments.required", { name: "title" }),
      nested("arguments.wrong_type", { name: "tags", type: nested("arguments.list") }),
    ];
    expect(say("arguments.invalid", { problems })).toBe(
      "引数が正しくありません。title は必須です。tags はリストでなければなりません。",
    );
  });

  test("drops the space before and after a value that is empty or Japanese", () => {
    expect(say("arguments.required", { name: "タイトル" })).toBe("タイトルは必須です。");
    expect(say("program.ended", { command: "npx", output: "" })).toBe(
      "プログラム npx が終了しました。直してください。",
    );
  });

  test("has literal braces where the template doubles them, and never fills a value's own braces", () => {
    expect(say("agents.template", { name: "{other}" })).toBe("`{name}` を {other} に置き換えます。");
  });
});

describe("the text field of an API object", () => {
  const agent = {
    name: serverText("Assistant"),
    name_code: "chat.assistant",
    name_params: {},
    reason: null,
  } satisfies WithText<"name"> & WithOptionalText<"reason">;

  test("comes with the code and the parameters beside it", () => {
    expect(messageIn(agent, "name")).toEqual({ text: "Assistant", code: "chat.assistant", params: {} });
  });

  test("is null where there is no text", () => {
    const without: WithOptionalText<"reason"> = agent;
    expect(messageIn(without, "reason")).toBeNull();
  });
});

test("the texts of a list or a record come with their codes and parameters", () => {
  const codes = { notes_code: ["n8n.published"], notes_params: [{ id: "1" }] };
  expect(
    messagesIn({ notes: [serverText("Published."), serverText("Foreign.")], ...codes }, "notes"),
  ).toEqual([
    ["0", { text: "Published.", code: "n8n.published", params: { id: "1" } }],
    ["1", { text: "Foreign.", code: undefined, params: undefined }],
  ]);
  const refused = {
    refused: { "a.md": serverText("Too long.") },
    refused_code: { "a.md": "knowledge.long" },
  };
  expect(messagesIn(refused, "refused")).toEqual([
    ["a.md", { text: "Too long.", code: "knowledge.long", params: undefined }],
  ]);
});

/** The catalogue itself is checked in Python; here only that this file knows every form its templates have. */
test("every placeholder of the Japanese catalogue is understood", () => {
  const files = import.meta.glob<Catalogue>("../../src/chie/messages/ja/*.json", {
    eager: true,
    import: "default",
  });
  const templates = Object.values(files).flatMap((file) => Object.entries(file));
  const understood = /\{\{|\}\}|\{\w+(:,)?\}/g;
  expect(
    templates.filter(([, text]) => /[{}]/.test(text.replace(understood, ""))).map(([code]) => code),
  ).toEqual([]);
});
