import "./formula.css";
import { type ComponentProps, useLayoutEffect, useRef, useState } from "react";

type Draw = typeof import("./katex").draw;

let draw: Draw | null = null;
let loading: Promise<Draw> | null = null;

function load(): Promise<Draw> {
  loading ??= import("./katex").then(
    (module) => {
      draw = module.draw;
      return draw;
    },
    (reason: unknown) => {
      loading = null; // the next formula tries again
      throw reason;
    },
  );
  return loading;
}

/**
 * A formula, from the `var` elements of `remarkFormulas`. Its source is shown until KaTeX has been loaded, while its
 * end has not arrived, and if its TeX is wrong.
 */
export function Formula({ className, title: tex, children }: ComponentProps<"var">) {
  const element = useRef<HTMLSpanElement>(null);
  const [drawn, setDrawn] = useState(false);
  const display = className === "display";

  useLayoutEffect(() => {
    let stale = false;
    const show = (drawInto: Draw) => {
      const into = element.current;
      if (stale || !into || tex === undefined) return;
      try {
        drawInto(tex, into, display);
        setDrawn(true);
      } catch {
        into.replaceChildren();
        setDrawn(false);
      }
    };
    if (tex === undefined) setDrawn(false);
    else if (draw) show(draw);
    else load().then(show, () => undefined);
    return () => {
      stale = true;
    };
  }, [tex, display]);

  useLayoutEffect(() => {
    const outer = element.current?.parentElement;
    if (!drawn || !display || !outer) return;
    // Only what scrolls needs a stop for the keyboard.
    if (outer.scrollWidth > outer.clientWidth) outer.tabIndex = 0;
    else outer.removeAttribute("tabindex");
  });

  return (
    <span className={display ? "formula formula-display" : "formula"}>
      <span ref={element} hidden={!drawn} />
      {!drawn && <span className="formula-source">{children}</span>}
    </span>
  );
}
