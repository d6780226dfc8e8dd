import { type RefObject, useEffect, useLayoutEffect, useMemo, useState } from "react";
import { languageOf, type Point } from "../notes";
import { placedLabels } from "./label-layout";
import { toScreen, type Viewport } from "./viewport";

/** With more points in view, a title would cover others wherever it stands. */
const MAX_POINTS = 400;
const MAX_NAMES = 40;

/** Titles beside the points, as many as fit without touching another title or a point; screen readers use the list. */
export function MapNames({
  frame,
  points,
  viewport,
}: {
  frame: RefObject<HTMLDivElement | null>;
  points: Point[];
  viewport: Viewport;
}) {
  const size = useSize(frame);
  const labels = useMemo(() => {
    if (points.length > MAX_POINTS || !frame.current) return [];
    const places = points.map((point) => ({ text: point.title, ...toScreen(point, viewport) }));
    return placedLabels(places, size, measureIn(frame.current), MAX_NAMES);
  }, [frame, points, viewport, size]);
  useLayoutEffect(() => moveNames(frame.current, viewport, viewport), [frame, viewport]);
  return (
    <div className="kn-names" aria-hidden="true" ref={frame}>
      {labels.map(({ at, left, top, width }) => (
        <span
          key={points[at]?.id}
          lang={languageOf(points[at]?.title ?? "")}
          style={{ left: `${left}px`, top: `${top}px`, width: `${width}px` }}
        >
          {points[at]?.title}
        </span>
      ))}
    </div>
  );
}

/** While the map is dragged, the titles move with it; while it is zoomed, they are hidden. */
export function moveNames(frame: HTMLElement | null, placed: Viewport, live: Viewport): void {
  if (!frame) return;
  const [x, y] = [((live.x - placed.x) / 2) * 100, ((live.y - placed.y) / 2) * 100];
  frame.style.transform = x || y ? `translate(${x}%, ${y}%)` : "";
  frame.style.visibility = live.zoom === placed.zoom ? "" : "hidden";
}

/** The width of a text in the font of the titles. */
function measureIn(frame: HTMLElement): (text: string) => number {
  const context = document.createElement("canvas").getContext("2d");
  const probe = document.createElement("span");
  frame.append(probe);
  const { fontFamily, fontSize, fontWeight } = getComputedStyle(probe);
  probe.lang = "ja";
  const japanese = getComputedStyle(probe).fontFamily;
  probe.remove();
  return (text) => {
    if (!context) return text.length * 12;
    context.font = `${fontWeight} ${fontSize} ${languageOf(text) === "ja" ? japanese : fontFamily}`;
    return context.measureText(text).width;
  };
}

function useSize(frame: RefObject<HTMLElement | null>): { width: number; height: number } {
  const [size, setSize] = useState({ width: 0, height: 0 });
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const observer = new ResizeObserver(() =>
      setSize({ width: element.clientWidth, height: element.clientHeight }),
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [frame]);
  return size;
}
