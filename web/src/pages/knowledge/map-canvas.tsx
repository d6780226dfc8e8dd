import { memo, type PointerEvent, useEffect, useMemo, useRef } from "react";
import { colourOf, moved, SCALE, type Viewport, zoomed } from "./map-viewport";
import type { Point } from "./notes";

export type Edge = readonly [number, number];

const SMALL_DOTS_FROM = 400;

interface MapCanvasProps {
  label: string;
  points: Point[];
  /** Pairs of positions in `points`, drawn as lines. */
  edges: readonly Edge[];
  tags: string[];
  only: string | null;
  marked: string | null;
  viewport: Viewport;
  setViewport: (change: (viewport: Viewport) => Viewport) => void;
  setOver: (over: { at: number; x: number; y: number } | null) => void;
  open: (at: number) => void;
}

export function MapCanvas({
  label,
  points,
  edges,
  tags,
  only,
  marked,
  viewport,
  setViewport,
  setOver,
  open,
}: MapCanvasProps) {
  const svg = useRef<SVGSVGElement>(null);
  const pointers = useRef(new Map<number, { x: number; y: number }>());
  const press = useRef<{ at: number | null; travelled: number }>({ at: null, travelled: 0 });

  const near = useMemo(() => {
    const at = points.findIndex((point) => point.id === marked);
    return lines(
      points,
      edges.filter((edge) => edge.includes(at)),
    );
  }, [points, edges, marked]);

  useEffect(() => {
    const element = svg.current;
    if (!element) return;
    // React's wheel listeners are passive and cannot prevent scrolling.
    const wheel = (event: WheelEvent) => {
      event.preventDefault();
      const { x, y } = positionOf(event, element);
      setViewport((old) => zoomed(old, Math.exp(-event.deltaY / 400), x, y));
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  }, [setViewport]);

  function down(event: PointerEvent<SVGSVGElement>) {
    event.currentTarget.setPointerCapture(event.pointerId);
    pointers.current.set(event.pointerId, positionOf(event, event.currentTarget));
    press.current = { at: indexOf(event.target), travelled: 0 };
  }

  function move(event: PointerEvent<SVGSVGElement>) {
    const here = positionOf(event, event.currentTarget);
    const before = pointers.current.get(event.pointerId);
    if (!before) {
      const at = indexOf(event.target);
      setOver(at === null ? null : { at, ...here });
      return;
    }
    press.current.travelled += Math.abs(event.movementX) + Math.abs(event.movementY);
    const other = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const ratio =
        Math.hypot(here.x - other.x, here.y - other.y) / Math.hypot(before.x - other.x, before.y - other.y);
      setViewport((old) => zoomed(old, Number.isFinite(ratio) ? ratio : 1, other.x, other.y));
    } else setViewport((old) => moved(old, here.x - before.x, here.y - before.y));
    pointers.current.set(event.pointerId, here);
  }

  function up(event: PointerEvent<SVGSVGElement>) {
    pointers.current.delete(event.pointerId);
    const { at, travelled } = press.current;
    if (event.type === "pointerup" && at !== null && travelled < 5) open(at);
    press.current = { at: null, travelled: 0 };
  }

  return (
    <svg
      ref={svg}
      className={`kn-plane ${points.length > SMALL_DOTS_FROM ? "crowd" : ""}`}
      viewBox="-1 -1 2 2"
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
      onPointerDown={down}
      onPointerMove={move}
      onPointerUp={up}
      onPointerCancel={up}
      onPointerLeave={() => setOver(null)}
    >
      <g transform={`translate(${viewport.x} ${viewport.y}) scale(${viewport.zoom})`}>
        <Lines points={points} edges={edges} only={only} />
        {near && <path className="kn-edge near" d={near} />}
        <Dots points={points} tags={tags} only={only} />
        {points
          .filter((point) => point.id === marked)
          .map((point) => (
            <path key={point.id} className="kn-ring" d={dot(point)} />
          ))}
      </g>
    </svg>
  );
}

/** One path for all lines: thousands of elements would make every step of a zoom slow. */
const Lines = memo(function Lines(props: { points: Point[]; edges: readonly Edge[]; only: string | null }) {
  const { points, edges, only } = props;
  const shown = only ? edges.filter((edge) => edge.every((at) => points[at]?.tags.includes(only))) : edges;
  const d = lines(points, shown);
  return d && <path className="kn-edge" d={d} />;
});

const Dots = memo(function Dots({
  points,
  tags,
  only,
}: {
  points: Point[];
  tags: string[];
  only: string | null;
}) {
  return points.map((point, at) => (
    <path
      key={point.id}
      data-at={at}
      className={`kn-point ${colourOf(point, tags)} ${only && !point.tags.includes(only) ? "dim" : ""}`}
      d={dot(point)}
    />
  ));
});

/** A zero-length line with round caps: a dot that keeps its size and shape at any zoom and aspect ratio. */
function dot({ x, y }: Point): string {
  return `M${x * SCALE} ${-y * SCALE}h0.00001`;
}

function lines(points: readonly Point[], edges: readonly Edge[]): string {
  const ends = edges.map(([from, to]) => [points[from], points[to]]);
  return ends
    .map(([a, b]) => (a && b ? `M${a.x * SCALE} ${-a.y * SCALE}L${b.x * SCALE} ${-b.y * SCALE}` : ""))
    .join("");
}

function indexOf(target: EventTarget): number | null {
  const at = target instanceof SVGElement ? target.dataset.at : undefined;
  return at === undefined ? null : Number(at);
}

/** Screen coordinates, from the upper left corner. */
function positionOf(event: { clientX: number; clientY: number }, element: Element): { x: number; y: number } {
  const box = element.getBoundingClientRect();
  return { x: (event.clientX - box.left) / box.width, y: (event.clientY - box.top) / box.height };
}
