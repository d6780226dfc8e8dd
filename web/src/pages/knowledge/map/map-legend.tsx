import { useMemo } from "react";
import { useText } from "../../../i18n/language";
import { knowledgeText } from "../../../i18n/strings/knowledge";
import { mapText } from "../../../i18n/strings/map";
import { languageOf, type Point } from "../notes";
import { colourOf } from "./viewport";

/** The colours of the points in view, each a button that shows only the notes with its tag. */
export function MapLegend({
  points,
  tags,
  only,
  setOnly,
}: {
  points: readonly Point[];
  /** The tags that have a colour, in the order of the colours. */
  tags: readonly string[];
  only: string | null;
  setOnly: (tag: string | null) => void;
}) {
  const t = useText(mapText);
  const { tags: label } = useText(knowledgeText);
  const drawn = useMemo(() => new Set(points.map((point) => colourOf(point, tags))), [points, tags]);
  return (
    <fieldset className="kn-legend" aria-label={label}>
      {tags.map((tag, index) =>
        drawn.has(`kn-colour-${index}`) || only === tag ? (
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
        ) : null,
      )}
      {only !== null && !tags.includes(only) && (
        <button type="button" className="kn-legend-tag" aria-pressed="true" onClick={() => setOnly(null)}>
          <span lang={languageOf(only)}>{only}</span>
        </button>
      )}
      {drawn.has("kn-colour-none") && (
        <span className="kn-legend-others">
          <span className="kn-dot kn-colour-none" aria-hidden="true" />
          {t.otherTags}
        </span>
      )}
    </fieldset>
  );
}
