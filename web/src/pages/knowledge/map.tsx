import { memo, type PointerEvent, useEffect, useMemo, useRef, useState } from "react";
import { useText } from "../../i18n/language";
import { go } from "../../route";
import { Button, IconButton } from "../../ui/button";
import { ErrorNotice, Notice, Skeletons } from "../../ui/feedback";
import {
  colourOf,
  commonTags,
  isVisible,
  moved,
  SCALE,
  START,
  toScreen,
  type Viewport,
  zoomed,
} from "./map-viewport";
import { languageOf, type Point, useMap } from "./notes";
import { knowledgeText } from "./text";
import { noteHref, type View } from "./view-state";

const MAX_LISTED = 200;
const MAX_NAMED = 14;
const SMALL_DOTS_FROM = 400;

export function NoteMap({ view, current }: { view: View; current: string | null }) {
  const t = useText(knowledgeText);
  const { data, error, refetch } = useMap();
  if (error) return <ErrorNotice error={error} retry={() => refetch()} />;
  if (!data) return <Skeletons lines={1} height="24rem" label={t.drawing} />;
  if (data.points.length < 2) return <Notice>{t.mapFew}</Notice>;
  return <Drawn points={data.points} total={data.total} view={view} current={current} />;
}

function Drawn(props: { points: Point[]; total: number; view: View; current: string | null }) {
  const { points, total, view, current } = props;
  const t = useText(knowledgeText);
  const tags = useMemo(() => commonTags(points), [points]);
  const [only, setOnly] = useState<string | null>(view.tag);
  const [viewport, setViewport] = useState(START);
  const [over, setOver] = useState<{ at: number; x: number; y: number } | null>(null);
  const shown = useMemo(
    () => points.filter((point) => (!only || point.tags.includes(only)) && isVisible(point, viewport)),
    [points, only, viewport],
  );
  const pointed = over && points[over.at];
  return (
    <div className="kn-map">
      <div className="kn-map-picture">
        <MapCanvas
          label={t.mapLabel(points.length)}
          points={points}
          tags={tags}
          only={only}
          marked={pointed?.id ?? current}
          viewport={viewport}
          setViewport={setViewport}
          setOver={setOver}
          open={(at) => points[at] && go(noteHref(points[at].id, view))}
        />
        <Names points={shown} viewport={viewport} />
        {pointed && over && over.x >= 0 && (
          <div
            className={`kn-map-tip ${over.x > 0.6 ? "left" : ""} ${over.y > 0.75 ? "above" : ""}`}
            style={{ left: `${over.x * 100}%`, top: `${over.y * 100}%` }}
          >
            <strong lang={languageOf(pointed.title)}>{pointed.title}</strong>
            <span>{pointed.tags.map((tag) => `#${tag}`).join(" ")}</span>
          </div>
        )}
      </div>
      <div className="kn-map-under">
        <fieldset className="kn-legend" aria-label={t.tags}>
          {tags.map((tag, index) => (
            <button
              key={tag}
              type="button"
              className="kn-legend-tag"
              aria-pressed={only === tag}
              onClick={() => setOnly(only === tag ? null : tag)}
            >
              <span className={`kn-dot kn-colour-${index}`} aria-hidden="true" />
              <span lang={languageOf(tag)}>{tag}</span>
            </button>
          ))}
        </fieldset>
        <div className="kn-map-zoom">
          <IconButton
            kind="plain"
            small
            icon="plus"
            label={t.zoomIn}
            onClick={() => setViewport((f) => zoomed(f, 1.5))}
          />
          <Button
            small
            aria-label={t.zoomOut}
            title={t.zoomOut}
            onClick={() => setViewport((f) => zoomed(f, 1 / 1.5))}
          >
            −
          </Button>
          <Button small onClick={() => setViewport(START)}>
            {t.zoomReset}
          </Button>
        </div>
      </div>
      <p className="muted small kn-map-hint">
        {t.mapHint} {total > points.length && t.mapNewest(points.length, total)}
      </p>
      <section className="kn-map-list" aria-label={t.inView(shown.length)}>
        <h3>{t.inView(shown.length)}</h3>
        <ul>
          {shown.slice(0, MAX_LISTED).map((point) => (
            <li key={point.id}>
              <a
                href={noteHref(point.id, view)}
                aria-current={point.id === current ? "true" : undefined}
                onFocus={() => setOver({ at: points.indexOf(point), x: -1, y: -1 })}
                onBlur={() => setOver(null)}
                onPointerEnter={() => setOver({ at: points.indexOf(point), x: -1, y: -1 })}
                onPointerLeave={() => setOver(null)}
              >
                <span className={`kn-dot ${colourOf(point, tags)}`} aria-hidden="true" />
                <span lang={languageOf(point.title)}>{point.title}</span>
              </a>
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}

/** Titles beside the points, while few notes are in view; screen readers use the list. */
const Names = memo(function Names({ points, viewport }: { points: Point[]; viewport: Viewport }) {
  if (points.length > MAX_NAMED) return null;
  return (
    <div className="kn-names" aria-hidden="true">
      {points.map((point) => {
        const { x, y } = toScreen(point, viewport);
        return (
          <span
            key={point.id}
            lang={languageOf(point.title)}
            className={x > 0.7 ? "left" : ""}
            style={{ left: `${x * 100}%`, top: `${y * 100}%` }}
          >
            {point.title}
          </span>
        );
      })}
    </div>
  );
});

interface MapCanvasProps {
  label: string;
  points: Point[];
  tags: string[];
  only: string | null;
  marked: string | null;
  viewport: Viewport;
  setViewport: (change: (viewport: Viewport) => Viewport) => void;
  setOver: (over: { at: number; x: number; y: number } | null) => void;
  open: (at: number) => void;
}

function MapCanvas({
  label,
  points,
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

function indexOf(target: EventTarget): number | null {
  const at = target instanceof SVGElement ? target.dataset.at : undefined;
  return at === undefined ? null : Number(at);
}

/** Screen coordinates, from the upper left corner. */
function positionOf(event: { clientX: number; clientY: number }, element: Element): { x: number; y: number } {
  const box = element.getBoundingClientRect();
  return { x: (event.clientX - box.left) / box.width, y: (event.clientY - box.top) / box.height };
}
