import { type ReactNode, useCallback, useMemo, useRef, useState } from "react";
import { useText } from "../../../i18n/language";
import { knowledgeText } from "../../../i18n/strings/knowledge";
import { mapText } from "../../../i18n/strings/map";
import { go } from "../../../route";
import { Button, IconButton, LinkButton } from "../../../ui/button";
import { ErrorNotice, Notice, Skeletons } from "../../../ui/feedback";
import { languageOf, type Point, useGraph, useMap } from "../notes";
import { noteHref, type View, viewHref } from "../view-state";
import { graphLayout } from "./link-layout";
import { type Edge, MapCanvas } from "./map-canvas";
import { MapLegend } from "./map-legend";
import { MapNames, moveNames } from "./map-names";
import { colourOf, commonTags, isVisible, START, zoomed } from "./viewport";

const MAX_LISTED = 200;
const NO_EDGES: readonly Edge[] = [];

/** The notes on a plane, by topic or by their links to each other. */
export function NoteMap({ view, current }: { view: View; current: string | null }) {
  const t = useText(knowledgeText);
  const g = useText(mapText);
  const here = (next: View) => (current ? noteHref(current, next) : viewHref(next));
  return (
    <div className="kn-map-modes">
      <fieldset className="kn-switch kn-map-mode" aria-label={t.map}>
        {[false, true].map((links) => (
          <LinkButton
            key={String(links)}
            small
            href={here({ ...view, links })}
            aria-current={view.links === links ? "true" : undefined}
          >
            {links ? g.byLinks : g.byTopic}
          </LinkButton>
        ))}
      </fieldset>
      {view.links ? <LinkMap view={view} current={current} /> : <TopicMap view={view} current={current} />}
    </div>
  );
}

function TopicMap({ view, current }: { view: View; current: string | null }) {
  const t = useText(mapText);
  const { data, error, refetch } = useMap();
  if (error) return <ErrorNotice error={error} retry={() => refetch()} />;
  if (!data) return <Skeletons lines={1} height="24rem" label={t.loading} />;
  if (data.points.length < 2) return <Notice>{t.tooFew}</Notice>;
  const { points, total } = data;
  const hint = total > points.length ? `${t.topicsHint} ${t.newest(points.length, total)}` : t.topicsHint;
  return (
    <Drawn
      points={points}
      edges={NO_EDGES}
      label={t.topicsLabel(points.length)}
      hint={hint}
      view={view}
      current={current}
    />
  );
}

function LinkMap({ view, current }: { view: View; current: string | null }) {
  const t = useText(mapText);
  const g = useText(mapText);
  const { data, error, refetch } = useGraph();
  const edges = useMemo(
    () => (data?.links ?? []).map(({ source, target }): Edge => [source, target]),
    [data],
  );
  const points = useMemo(() => {
    const places = graphLayout(data?.notes.length ?? 0, edges);
    return (data?.notes ?? []).map((note, at) => ({ ...note, x: places[at]?.x ?? 0, y: places[at]?.y ?? 0 }));
  }, [data, edges]);
  const degrees = useMemo(() => {
    const counts = new Map<string, number>();
    for (const at of edges.flat()) {
      const id = points[at]?.id ?? "";
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    return counts;
  }, [points, edges]);
  const count = useCallback(
    (point: Point) => <span className="kn-number">{g.linkCount(degrees.get(point.id) ?? 0)}</span>,
    [degrees, g],
  );
  if (error) return <ErrorNotice error={error} retry={() => refetch()} />;
  if (!data) return <Skeletons lines={1} height="24rem" label={t.loading} />;
  if (points.length === 0)
    return (
      <Notice>
        {g.noLinks} <code>[[{g.linkExample}]]</code> {g.linkHow}
      </Notice>
    );
  const hint =
    data.total > points.length ? `${g.linksHint} ${g.mostLinked(points.length, data.total)}` : g.linksHint;
  return (
    <Drawn
      points={points}
      edges={edges}
      label={g.linksLabel(points.length, edges.length)}
      hint={hint}
      view={view}
      current={current}
      beside={count}
    />
  );
}

interface DrawnProps {
  points: Point[];
  edges: readonly Edge[];
  label: string;
  hint: string;
  view: View;
  current: string | null;
  /** What the list says beside a title. */
  beside?: (point: Point) => ReactNode;
}

function Drawn({ points, edges, label, hint, view, current, beside }: DrawnProps) {
  const t = useText(mapText);
  const tags = useMemo(() => commonTags(points), [points]);
  const [only, setOnly] = useState<string | null>(view.tag);
  const [viewport, setViewport] = useState(START);
  const [over, setOver] = useState<{ at: number; x: number; y: number } | null>(null);
  const shown = useMemo(
    () => points.filter((point) => (!only || point.tags.includes(only)) && isVisible(point, viewport)),
    [points, only, viewport],
  );
  const pointed = over && points[over.at];
  const names = useRef<HTMLDivElement>(null);
  return (
    <div className="kn-map">
      <div className="kn-map-picture">
        <MapCanvas
          label={label}
          points={points}
          edges={edges}
          tags={tags}
          only={only}
          marked={pointed?.id ?? current}
          viewport={viewport}
          setViewport={setViewport}
          onMove={(live) => moveNames(names.current, viewport, live)}
          over={over && over.x >= 0 ? over.at : null}
          setOver={setOver}
          open={(at) => points[at] && go(noteHref(points[at].id, view))}
        />
        <MapNames frame={names} points={shown} viewport={viewport} />
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
        <MapLegend points={shown} tags={tags} only={only} setOnly={setOnly} />
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
            {t.showAll}
          </Button>
        </div>
      </div>
      <p className="muted small kn-map-hint">{hint}</p>
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
                {beside?.(point)}
              </a>
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}
