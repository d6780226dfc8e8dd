import { useState } from "react";
import { ago, dateTime } from "../../../i18n/dates";
import { useLanguage, useText } from "../../../i18n/language";
import { anchorText } from "../../../i18n/strings/anchors";
import { ErrorText } from "../../../i18n/translate";
import { Button } from "../../../ui/button";
import { Notice } from "../../../ui/feedback";
import { Icon } from "../../../ui/icon";
import { useToast } from "../../../ui/toast";
import { inbox } from "../inbox/inbox";
import type { Anchor, AnchorReport, Hit, Note } from "../notes";
import { useAuthorName } from "./confirmation";

/** Where the code is that a note is about: a fact beside its author and dates. */
export function AnchorFact({ anchor }: { anchor: Anchor }) {
  const t = useText(anchorText);
  const href = permalink(anchor);
  const place = placeOf(anchor);
  return (
    <div>
      <dt>
        <Icon name="file" size={15} />
        <span className="hidden-text">{t.code}</span>
      </dt>
      <dd className="kn-anchor" translate="no">
        {href ? (
          <a href={href} target="_blank" rel="noreferrer noopener">
            {place}
          </a>
        ) : (
          place
        )}{" "}
        <span className="muted">
          · {anchor.repository}
          {anchor.commit && ` @ ${anchor.commit.slice(0, 10)}`}
        </span>
      </dd>
    </div>
  );
}

/** What has become of the code, and a way to say that the note is right all the same. */
export function AnchorState({ note }: { note: Note }) {
  const t = useText(anchorText);
  const language = useLanguage();
  const name = useAuthorName();
  const toast = useToast();
  const [busy, setBusy] = useState(false);
  const { anchor, anchor_report: report } = note;
  if (!anchor) return null;
  if (!report) return <p className="muted small kn-anchor-state">{t.notChecked}</p>;
  const stale = isStale(report);
  async function keep() {
    setBusy(true);
    try {
      await inbox.confirm(note);
      toast(report?.state === "gone" ? t.confirmedGone : t.confirmed);
    } catch (error) {
      toast(<ErrorText error={error} />);
    } finally {
      setBusy(false);
    }
  }
  const place = placeOf(report);
  const text = (
    <>
      {report.detail === "edited"
        ? t.edited(percent(report))
        : report.detail === "moved"
          ? t.moved(place)
          : t[report.detail]}
      {report.detail !== "moved" && report.path && place !== placeOf(anchor) && ` ${t.nowAt(place)}`}{" "}
      <time
        className="muted small"
        dateTime={report.reported_at}
        title={dateTime(report.reported_at, language)}
      >
        {t.checked(ago(report.reported_at, language), report.commit.slice(0, 10), name(report.reported_by))}
      </time>
    </>
  );
  if (!stale) return <p className="small kn-anchor-state">{text}</p>;
  return (
    <Notice
      kind="warn"
      action={
        <Button small disabled={busy} onClick={() => void keep()}>
          {t.stillRight}
        </Button>
      }
    >
      {text}
    </Notice>
  );
}

/** In a list of hits: the code has changed or is gone. */
export function AnchorBadge({ hit }: { hit: Hit }) {
  const t = useText(anchorText);
  const report = hit.anchor_report;
  if (!report || !isStale(report)) return null;
  return (
    <span className="tag">
      {report.state === "gone"
        ? t.badgeGone
        : report.changed
          ? t.badgeChanged(percent(report))
          : t.badgeWhitespace}
    </span>
  );
}

const isStale = (report: AnchorReport) => report.state === "changed" || report.state === "gone";

const percent = (report: AnchorReport) => Math.max(Math.round((report.changed ?? 0) * 100), 1);

function placeOf({ path, lines }: { path?: string | null; lines?: string | null }): string {
  return `${path ?? ""}${lines ? `:${lines}` : ""}`;
}

/** Only the forms that are known not to change. */
function permalink({ repository, path, lines, commit }: Anchor): string | null {
  if (!commit || !/^github\.com\/[^/]+\/[^/]+$/.test(repository)) return null;
  const file = path.split("/").map(encodeURIComponent).join("/");
  const part = lines ? `#L${lines.replace("-", "-L")}` : "";
  return `https://${repository}/blob/${commit}/${file}${part}`;
}
