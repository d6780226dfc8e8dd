import { describe, expect, test } from "vitest";
import entries from "../src/i18n/server.ja.json";
import { Catalogue, serverText } from "./texts";

const few = new Catalogue({
  "no session has this id.": "この ID の会話はありません。",
  "content is too long: {length} characters, at most {longest}.":
    "本文が長すぎます（{length} 文字、上限 {longest} 文字）。",
  "{name} is required": "{name} は必須です",
  "{name} must be {what}": "{name} は{what}でなければなりません",
  "a list": "リスト",
  "at most {le}": "{le} 以下",
  "Saved; found by words only: {reason}": "保存しました。単語でのみ検索できます：{reason}",
  "the server at {url} answered {status}. {hint}": "{url} の応答は {status} でした。{hint}",
  "Wait a little.": "少しお待ちください。",
  "{says} ({code}). {advice}": "{says}（{code}）。{advice}",
  "its part failed (the store)": "一部（ストア）が失敗しました",
  "The program {command} ended.{said} Mend it.":
    "プログラム {command} が終了しました。{said} 直してください。",
  " Its last words: {words}": " 最後の出力：{words}",
});
const house = new Catalogue(entries);
const say = (text: string, catalogue = few) => catalogue.translate(serverText(text));

describe("sentences of the house", () => {
  test("a sentence without values is found as it is", () => {
    expect(say("no session has this id.")).toBe("この ID の会話はありません。");
  });

  test("values are kept, in the order that the language wants", () => {
    expect(say("content is too long: 100,001 characters, at most 100,000.")).toBe(
      "本文が長すぎます（100,001 文字、上限 100,000 文字）。",
    );
  });

  test("what nobody knows stays as it came", () => {
    for (const foreign of [
      "Rate limit reached for gpt-4o in organization org-1.",
      "The model must be loaded first.",
      "your name is required here, please.",
      "モデルが見つかりません。",
      "",
    ])
      expect(say(foreign)).toBe(foreign);
  });

  test("a sentence inside a value is translated too", () => {
    expect(say("Saved; found by words only: the server at http://a/v1 answered 429. Wait a little.")).toBe(
      "保存しました。単語でのみ検索できます：http://a/v1 の応答は 429 でした。少しお待ちください。",
    );
  });

  test("foreign sentences inside a value are kept", () => {
    expect(say("Saved; found by words only: Something. Else; happened.")).toBe(
      "保存しました。単語でのみ検索できます：Something. Else; happened.",
    );
    expect(say("The program npx ended. Its last words: Error: no. Mend it.")).toBe(
      "プログラム npx が終了しました。 最後の出力：Error: no. 直してください。",
    );
    expect(say("The program npx ended. Mend it.")).toBe("プログラム npx が終了しました。 直してください。");
  });

  test("several faults in one text are told one after the other", () => {
    expect(say("title is required; tags must be a list; limit must be at most 100.")).toBe(
      "title は必須です。tags はリストでなければなりません。limit は100 以下でなければなりません。",
    );
  });

  test("of several ways to split, the one that makes sense wins", () => {
    expect(say("its part failed (the store) (Code: words (more)). Wait a little.")).toBe(
      "一部（ストア）が失敗しました（Code: words (more)）。少しお待ちください。",
    );
  });

  test("glue alone fits nothing", () => {
    expect(say("Something (odd). Something else.")).toBe("Something (odd). Something else.");
  });

  test("very long texts are left alone", () => {
    const long = `content is too long: ${"9".repeat(5_000)} characters, at most 1.`;
    expect(say(long)).toBe(long);
  });
});

describe("the catalogue", () => {
  /** With made-up values; no other entry takes it away. */
  test("every entry is found by its own sentence", () => {
    const filled = (text: string) => text.replace(/\{(\w+)\}/g, (_, name: string) => `<${name}>`);
    const { "{says} ({code}). {advice}": glue, ...sentences } = entries; // by itself it says nothing
    const wanted = Object.entries(sentences).map(([english, japanese]) => [english, filled(japanese)]);
    expect(glue).toBeTruthy();
    expect(Object.keys(sentences).map((english) => [english, say(filled(english), house)])).toEqual(wanted);
  });

  test("composed texts of the house come out whole", () => {
    expect(
      say(
        "No model server answers at http://127.0.0.1:1234/v1 (ConnectError). Start it (in LM Studio: Developer, " +
          "Start Server), or set OPENAI_BASE_URL to where your model is served.",
        house,
      ),
    ).toBe(
      "http://127.0.0.1:1234/v1 のモデルサーバーが応答しません（ConnectError）。起動する（LM Studio では Developer → Start Server）か、OPENAI_BASE_URL にモデルの場所を設定してください。",
    );
    expect(
      say(
        "something the knowledge base depends on failed (its store or its model) (DependencyFailedException: The " +
          "vector store is away (code 5). Wait). Try again in 3 seconds.",
        house,
      ),
    ).toBe(
      "ナレッジベースが依存するもの（ストアまたはモデル）で障害が起きました（DependencyFailedException: The vector store is away (code 5). Wait）。3 秒後にもう一度お試しください。",
    );
    expect(
      say(
        "Failed to list workflows: n8n at http://127.0.0.1:5678 did not answer (ConnectError). Check that it runs and that N8N_URL is right, then try again.",
        house,
      ),
    ).toBe(
      "ワークフローの一覧取得に失敗しました。http://127.0.0.1:5678 の n8n が応答しませんでした（ConnectError）。動作していること、N8N_URL が正しいことを確認してから、もう一度お試しください。",
    );
    expect(say("/home/me/agents.json, line 3: agents[0].id is missing. Add it.", house)).toBe(
      "/home/me/agents.json の 3 行目、agents[0].id：見つかりません。追加してください。",
    );
  });
});
