import { describe, expect, it } from "vitest";
import { modelName, referredName } from "./model-choice";

describe("the name of a model", () => {
  it.each([
    ["/models/foo.gguf", "foo"],
    ["C:\\models\\日本語.Q4_K_M.gguf", "日本語.Q4_K_M"],
    ["~/llm/big-00001-of-00003.gguf", "big"],
    ["qwen3-8b.gguf", "qwen3-8b"],
    ["/srv/models/Qwen3-8B", "Qwen3-8B"],
    ["openai/gpt-4o", "openai/gpt-4o"],
    ["qwen3:8b", "qwen3:8b"],
  ])("of %s is %s", (name, shown) => {
    expect(modelName(name)).toBe(shown);
  });

  it("is what follows the endpoint in a reference", () => {
    expect(referredName("own//models/foo.gguf")).toBe("foo");
    expect(referredName("router/openai/gpt-4o")).toBe("openai/gpt-4o");
  });
});
