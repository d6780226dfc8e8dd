import { type PointerEvent, useCallback, useEffect, useLayoutEffect, useMemo, useRef } from "react";
import { useDark } from "../../../ui/dark";
import type { Point } from "../notes";
import { drawing } from "./map-drawing";
import { fromScreen, moved, nearest, SCALE, type Viewport, zoomed } from "./viewport";

export type Edge = readonly [number, number];

const SETTLE_MS = 150;
const REACH_PX = 10;
/** Less than this is a click. */
const CLICK_PX = 5;

interface MapCanvasProps {
  label: string;
  points: Point[];
  /** Pairs of positions in `points`, drawn as lines. */
  edges: readonly Edge[];
  tags: string[];
  only: string | null;
  marked: string | null;
  viewport: Viewport;
  /** Called when a drag or a zoom has ended; until then only the picture follows the pointer. */
  setViewport: (viewport: Viewport) => void;
  /** Called in every frame of a drag or a zoom. */
  onMove: (viewport: Viewport) => void;
  over: number | null;
  setOver: (over: { at: number; x: number; y: number } | null) => void;
  open: (at: number) => void;
}

export function MapCanvas(props: MapCanvasProps) {
  const { label, points, edges, marked, over, setOver, open } = props;
  const svg = useRef<SVGSVGElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const { live, change, settle } = useLiveViewport(props, canvas, svg);
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
      change((old) => zoomed(old, Math.exp(-event.deltaY / 400), x, y));
      settle(SETTLE_MS);
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  }, [change, settle]);

  function under(event: PointerEvent<SVGSVGElement>): number | null {
    const box = event.currentTarget.getBoundingClientRect();
    const reach = (length: number) => (2 * REACH_PX) / (length * SCALE * live.current.zoom);
    const here = fromScreen(positionOf(event, event.currentTarget), live.current);
    return nearest(points, here, reach(box.width), reach(box.height));
  }

  function down(event: PointerEvent<SVGSVGElement>) {
    event.currentTarget.setPointerCapture(event.pointerId);
    pointers.current.set(event.pointerId, positionOf(event, event.currentTarget));
    press.current = { at: under(event), travelled: 0 };
  }

  function move(event: PointerEvent<SVGSVGElement>) {
    const here = positionOf(event, event.currentTarget);
    const before = pointers.current.get(event.pointerId);
    if (!before) {
      const at = under(event);
      if (at !== null || over !== null) setOver(at === null ? null : { at, ...here });
      return;
    }
    if (over !== null) setOver(null);
    press.current.travelled += Math.abs(event.movementX) + Math.abs(event.movementY);
    const other = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const ratio =
        Math.hypot(here.x - other.x, here.y - other.y) / Math.hypot(before.x - other.x, before.y - other.y);
      change((old) => zoomed(old, Number.isFinite(ratio) ? ratio : 1, other.x, other.y));
    } else change((old) => moved(old, here.x - before.x, here.y - before.y));
    pointers.current.set(event.pointerId, here);
  }

  function up(event: PointerEvent<SVGSVGElement>) {
    pointers.current.delete(event.pointerId);
    const { at, travelled } = press.current;
    settle(0);
    if (event.type === "pointerup" && at !== null && travelled < CLICK_PX) open(at);
    press.current = { at: null, travelled: 0 };
  }

  return (
    <>
      <canvas ref={canvas} className="kn-drawing" />
      <svg
        ref={svg}
        className={`kn-plane ${over === null ? "" : "over"}`}
        viewBox="-1 -1 2 2"
        preserveAspectRatio="none"
        role="img"
        aria-label={label}
        data-points={points.length}
        data-edges={edges.length}
        onPointerDown={down}
        onPointerMove={move}
        onPointerUp={up}
        onPointerCancel={up}
        onPointerLeave={() => setOver(null)}
      >
        <g>
          {near && <path className="kn-edge near" d={near} />}
          {points
            .filter((point) => point.id === marked)
            .map((point) => (
              <path key={point.id} className="kn-ring" d={dot(point)} />
            ))}
        </g>
      </svg>
    </>
  );
}

/** The viewport while it moves: the picture is drawn again in every frame, without rendering anything of React. */
function useLiveViewport(
  { points, edges, tags, only, viewport, setViewport, onMove }: MapCanvasProps,
  canvas: React.RefObject<HTMLCanvasElement | null>,
  svg: React.RefObject<SVGSVGElement | null>,
) {
  const dark = useDark();
  const live = useRef(viewport);
  const frame = useRef(0);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const draw = useRef<ReturnType<typeof drawing>>(() => undefined);
  const show = useCallback(
    (final: boolean) => {
      frame.current = 0;
      const { x, y, zoom } = live.current;
      draw.current(live.current, final);
      svg.current?.querySelector("g")?.setAttribute("transform", `translate(${x} ${y}) scale(${zoom})`);
    },
    [svg],
  );
  const callbacks = useRef({ setViewport, onMove });
  callbacks.current = { setViewport, onMove };
  const change = useCallback(
    (next: (viewport: Viewport) => Viewport) => {
      live.current = next(live.current);
      frame.current ||= requestAnimationFrame(() => {
        show(false);
        callbacks.current.onMove(live.current);
      });
    },
    [show],
  );
  const settle = useCallback((delay: number) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => callbacks.current.setViewport(live.current), delay);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours change with the theme
  useLayoutEffect(() => {
    if (!canvas.current) return;
    draw.current = drawing(canvas.current, { points, edges, tags, only });
    show(true);
    const resize = new ResizeObserver(() => show(true));
    resize.observe(canvas.current);
    return () => resize.disconnect();
  }, [points, edges, tags, only, dark, show, canvas]);
  useLayoutEffect(() => {
    live.current = viewport;
    show(true);
  }, [viewport, show]);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      cancelAnimationFrame(frame.current);
    },
    [],
  );
  return { live, change, settle };
}

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

/** Screen coordinates, from the upper left corner. */
function positionOf(event: { clientX: number; clientY: number }, element: Element): { x: number; y: number } {
  const box = element.getBoundingClientRect();
  return { x: (event.clientX - box.left) / box.width, y: (event.clientY - box.top) / box.height };
}
