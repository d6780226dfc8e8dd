import { memo, type PointerEvent, useEffect, useMemo, useRef, useState } from "react";
import { useText } from "../../i18n/language";
import { go } from "../../route";
import { Button, IconButton } from "../../ui/button";
import { Failure, Notice, Skeletons } from "../../ui/feedback";
import { colourOf, commonTags, type Frame, inFrame, moved, START, screenPlace, zoomed } from "./mapframe";
import { languageOf, type Point, useMap } from "./notes";
import { noteHref, type View } from "./place";
import { knowledgeText } from "./text";

const LISTED = 200;
const NAMED = 14;
const CROWD = 400;

export function NoteMap({ view, current }: { view: View; current: string | null }) {
  const t = useText(knowledgeText);
  const { data, error, refetch } = useMap();
  if (error) return <Failure error={error} retry={() => refetch()} />;
  if (!data) return <Skeletons lines={1} height="24rem" label={t.drawing} />;
  if (data.points.length < 2) return <Notice>{t.mapFew}</Notice>;
  return <Drawn points={data.points} total={data.total} view={view} current={current} />;
}

function Drawn(props: { points: Point[]; total: number; view: View; current: string | null }) {
  const { points, total, view, current } = props;
  const t = useText(knowledgeText);
  const tags = useMemo(() => commonTags(points), [points]);
  const [only, setOnly] = useState<string | null>(view.tag);
  const [frame, setFrame] = useState(START);
  const [over, setOver] = useState<{ at: number; x: number; y: number } | null>(null);
  const shown = useMemo(
    () => points.filter((point) => (!only || point.tags.includes(only)) && inFrame(point, frame)),
    [points, only, frame],
  );
  const pointed = over && points[over.at];
  return (
    <div className="kn-map">
      <div className="kn-map-picture">
        <Plane
          label={t.mapLabel(points.length)}
          points={points}
          tags={tags}
          only={only}
          marked={pointed?.id ?? current}
          frame={frame}
          setFrame={setFrame}
          setOver={setOver}
          open={(at) => points[at] && go(noteHref(points[at].id, view))}
        />
        <Names points={shown} frame={frame} />
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
            onClick={() => setFrame((f) => zoomed(f, 1.5))}
          />
          <Button
            small
            aria-label={t.zoomOut}
            title={t.zoomOut}
            onClick={() => setFrame((f) => zoomed(f, 1 / 1.5))}
          >
            −
          </Button>
          <Button small onClick={() => setFrame(START)}>
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
          {shown.slice(0, LISTED).map((point) => (
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

/** Where few notes are in view, their titles stand beside them; screen readers have the list. */
const Names = memo(function Names({ points, frame }: { points: Point[]; frame: Frame }) {
  if (points.length > NAMED) return null;
  return (
    <div className="kn-names" aria-hidden="true">
      {points.map((point) => {
        const { x, y } = screenPlace(point, frame);
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

interface PlaneProps {
  label: string;
  points: Point[];
  tags: string[];
  only: string | null;
  marked: string | null;
  frame: Frame;
  setFrame: (change: (frame: Frame) => Frame) => void;
  setOver: (over: { at: number; x: number; y: number } | null) => void;
  open: (at: number) => void;
}

function Plane({ label, points, tags, only, marked, frame, setFrame, setOver, open }: PlaneProps) {
  const svg = useRef<SVGSVGElement>(null);
  const fingers = useRef(new Map<number, { x: number; y: number }>());
  const press = useRef<{ at: number | null; travelled: number }>({ at: null, travelled: 0 });

  useEffect(() => {
    const element = svg.current;
    if (!element) return;
    // React listens passively; only a listener of our own may keep the page from scrolling.
    const wheel = (event: WheelEvent) => {
      event.preventDefault();
      const { x, y } = place(event, element);
      setFrame((old) => zoomed(old, Math.exp(-event.deltaY / 400), x, y));
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  }, [setFrame]);

  function down(event: PointerEvent<SVGSVGElement>) {
    event.currentTarget.setPointerCapture(event.pointerId);
    fingers.current.set(event.pointerId, place(event, event.currentTarget));
    press.current = { at: numberOf(event.target), travelled: 0 };
  }

  function move(event: PointerEvent<SVGSVGElement>) {
    const here = place(event, event.currentTarget);
    const before = fingers.current.get(event.pointerId);
    if (!before) {
      const at = numberOf(event.target);
      setOver(at === null ? null : { at, ...here });
      return;
    }
    press.current.travelled += Math.abs(event.movementX) + Math.abs(event.movementY);
    const other = [...fingers.current].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const ratio =
        Math.hypot(here.x - other.x, here.y - other.y) / Math.hypot(before.x - other.x, before.y - other.y);
      setFrame((old) => zoomed(old, Number.isFinite(ratio) ? ratio : 1, other.x, other.y));
    } else setFrame((old) => moved(old, here.x - before.x, here.y - before.y));
    fingers.current.set(event.pointerId, here);
  }

  function up(event: PointerEvent<SVGSVGElement>) {
    fingers.current.delete(event.pointerId);
    const { at, travelled } = press.current;
    if (event.type === "pointerup" && at !== null && travelled < 5) open(at);
    press.current = { at: null, travelled: 0 };
  }

  return (
    <svg
      ref={svg}
      className={`kn-plane ${points.length > CROWD ? "crowd" : ""}`}
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
      <g transform={`translate(${frame.x} ${frame.y}) scale(${frame.zoom})`}>
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

/** A line without length and with round ends: a dot that stays as large and as round however the plane is stretched. */
function dot({ x, y }: Point): string {
  return `M${x * 0.94} ${-y * 0.94}h0.00001`;
}

function numberOf(target: EventTarget): number | null {
  const at = target instanceof SVGElement ? target.dataset.at : undefined;
  return at === undefined ? null : Number(at);
}

/** Between 0 and 1, from the upper left corner. */
function place(event: { clientX: number; clientY: number }, element: Element): { x: number; y: number } {
  const box = element.getBoundingClientRect();
  return { x: (event.clientX - box.left) / box.width, y: (event.clientY - box.top) / box.height };
}
