import "katex/dist/katex.min.css";
import katex from "katex";

/** Draws a formula into an element, with MathML for screen readers; throws if the TeX is wrong. */
export function draw(tex: string, element: HTMLElement, displayMode: boolean): void {
  katex.render(tex, element, {
    displayMode,
    output: "htmlAndMathml",
    strict: "ignore",
    trust: false,
    maxSize: 30,
    maxExpand: 500,
  });
}
