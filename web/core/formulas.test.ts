import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { markFormulas, remarkFormulas } from "./formulas";

const found = (text: string) => markFormulas(text).formulas.map(({ tex, display }) => [tex, display]);

describe("formulas", () => {
  test.each([
    ["円の面積は \\(\\pi r^2\\) です。", [["\\pi r^2", false]]],
    ["関数$f(x)$は連続。", [["f(x)", false]]],
    [
      "so $a_1 * b_1$ and $a_2$.",
      [
        ["a_1 * b_1", false],
        ["a_2", false],
      ],
    ],
    ["\\[\n\\frac{a}{b}\n- c\n\\]", [["\\frac{a}{b}\n- c", true]]],
    ["$$\nx = 1\n$$", [["x = 1", true]]],
    ["$$x = 1$$", [["x = 1", true]]],
    ["then \\[ x \\] follows", [["x", true]]],
    ["\\[E=mc\\]", [["E=mc", true]]],
    ["- item:\n  \\[ a\n  + b \\]", [["a\n  + b", true]]],
    ["> \\[ a\n> + b \\]", [["a\n+ b", true]]],
    ["| a | $|x|$ |", [["|x|", false]]],
    [
      "$2ab$, $\\$5$",
      [
        ["2ab", false],
        ["\\$5", false],
      ],
    ],
    ["\\(\\text{速さ} = v\\)", [["\\text{速さ} = v", false]]],
  ])("are found: %s", (text, expected) => {
    expect(found(text)).toEqual(expected);
    expect(markFormulas(text).formulas.every(({ open }) => !open)).toBe(true);
  });

  test.each([
    "It costs $5 and $10.",
    "from $5-$10, US$5/US$6, $1,000,$2,000",
    "between $5 and 10$",
    "$5 million to 10$",
    "価格は$5〜$10です。$20もある",
    "$AとB$",
    "set $HOME and $PATH, $foo=$bar, a$b$c",
    "The PID is $$ and kill $$ ends it.",
    "`$x$` and `` `$y$ ``",
    "```tex\n$$x$$\n\\(y\\)\n```",
    "- item\n  ~~~\n  $x$\n  ~~~",
    "```\n$x$ in a fence that is open",
    "\\$x\\$ and \\\\(x\\\\)",
    "1. **\\[TODO\\] Fix \\[1\\]**",
    "\\[TODO\\]",
    "\\(かっこ\\)",
    "$ x $ and $$ $$",
  ])("are not found: %s", (text) => {
    expect(markFormulas(text)).toEqual({ text, formulas: [] });
  });

  test.each(["Thus \\(a_1 + *b", "\\[\n\\frac{1}{2", "$$\nx = 1 +", "Then \\[ x"])(
    "that have not ended show their source: %s",
    (text) => {
      const { formulas } = markFormulas(text);
      expect(formulas.map(({ open }) => open)).toEqual([true]);
      expect(text.endsWith(formulas[0]?.source ?? "?")).toBe(true);
    },
  );

  test("that have not ended stop at the paragraph", () => {
    expect(markFormulas("\\( a\n\n**bold**").text).toContain("**bold**");
  });

  test("text is kept, whatever it is", () => {
    const parts = fc.constantFrom(
      "$",
      "$$",
      "\\(",
      "\\)",
      "\\[",
      "\\]",
      "\\",
      "`",
      "```",
      "\n",
      " ",
      "5",
      "x",
      "恵",
      "^",
      ">",
    );
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 40 }), (pieces) => {
        const text = pieces.join("");
        const { text: marked, formulas } = markFormulas(text);
        const back = marked.replace(
          /\uE000(\d+)\uE001/g,
          (_, number) => formulas[Number(number)]?.source ?? "?",
        );
        expect(back).toBe(text);
      }),
    );
  });
});

describe("the remark plugin", () => {
  const { formulas } = markFormulas("$x$ $$y$$");
  const mark = (number: number) => `\uE000${number}\uE001`;

  test("makes elements of marks in text, and drops the line breaks around a displayed one", () => {
    const children = [
      { type: "text", value: `a ${mark(0)} b` },
      { type: "break" },
      { type: "text", value: mark(1) },
      { type: "break" },
      { type: "text", value: "c" },
    ];
    const tree = { type: "root", children: [{ type: "paragraph", children }] };
    remarkFormulas({ formulas })(tree);
    expect(tree.children[0]?.children.map(({ type }) => type)).toEqual([
      "text",
      "formula",
      "text",
      "formula",
      "text",
    ]);
  });

  test("gives the source back in code and in URLs", () => {
    const code = { type: "inlineCode", value: `1 ${mark(0)}` };
    const link = { type: "link", url: `http://x/${mark(1)}`, title: mark(0), children: [] };
    remarkFormulas({ formulas })({ type: "root", children: [code, link] });
    expect([code.value, link.url, link.title]).toEqual(["1 $x$", "http://x/$$y$$", "$x$"]);
  });
});
