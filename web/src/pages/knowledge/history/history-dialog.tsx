import { useState } from "react";
import { dateTime } from "../../../i18n/dates";
import { useLanguage, useText } from "../../../i18n/language";
import { historyText } from "../../../i18n/strings/history";
import { Button } from "../../../ui/button";
import { Dialog, DialogFoot } from "../../../ui/dialog";
import { ErrorNotice, Skeletons } from "../../../ui/feedback";
import { Field } from "../../../ui/field";
import { useSaving } from "../../../ui/form";
import { useToast } from "../../../ui/toast";
import { useAuthorName } from "../note/confirmation";
import { NoteMarkdown } from "../note/note-markdown";
import { languageOf, type Note } from "../notes";
import { Difference } from "./difference";
import { history, useVersion, useVersions, type Version } from "./history";

/** The versions of a note: what changed between two of them, and restoring one. */
export function HistoryDialog({
  note,
  canEdit,
  onClose,
}: {
  note: Note;
  canEdit: boolean;
  onClose: () => void;
}) {
  const t = useText(historyText);
  const { data, error, refetch } = useVersions(note.id);
  return (
    <Dialog title={t.historyOf(note.title)} wide onClose={onClose}>
      {error ? (
        <ErrorNotice error={error} retry={() => refetch()} />
      ) : !data ? (
        <Skeletons lines={6} />
      ) : (
        <Versions note={note} versions={data.versions} canEdit={canEdit} onClose={onClose} />
      )}
    </Dialog>
  );
}

function Versions({
  note,
  versions,
  canEdit,
  onClose,
}: {
  note: Note;
  versions: Version[];
  canEdit: boolean;
  onClose: () => void;
}) {
  const t = useText(historyText);
  const toast = useToast();
  const readable = versions.filter(({ kind }) => kind !== "deleted");
  const [chosen, setChosen] = useState(readable[0]?.version ?? 1);
  const [other, setOther] = useState<number | null>(null);
  const { saving, failure, run } = useSaving();
  const before = readable.find(({ version }) => version < chosen)?.version ?? null;
  const compared = other === 0 ? null : (other ?? before);
  const isCurrent = versions.find(({ version }) => version === chosen)?.current ?? false;
  const restore = () =>
    void run(async () => {
      await history.restoreVersion(note.id, chosen);
      toast(t.restoredVersion(chosen));
      onClose();
    });
  return (
    <div className="stack">
      {versions.length === 1 && <p className="muted">{t.onlyOne}</p>}
      <div className="kn-history">
        <fieldset className="kn-versions" aria-label={t.versions}>
          {versions.map((one) => (
            <VersionRow key={one.version} version={one} chosen={chosen} choose={setChosen} />
          ))}
        </fieldset>
        <div className="stack kn-version">
          {readable.length > 1 && (
            <Field label={t.compareWith}>
              {(control) => (
                <select
                  {...control}
                  className="input"
                  value={compared ?? 0}
                  onChange={(event) => setOther(Number(event.target.value))}
                >
                  <option value={0}>{t.nothing}</option>
                  {readable
                    .filter(({ version }) => version !== chosen)
                    .map(({ version }) => (
                      <option key={version} value={version}>
                        {t.version(version)}
                      </option>
                    ))}
                </select>
              )}
            </Field>
          )}
          <Compared id={note.id} chosen={chosen} other={compared === chosen ? null : compared} />
        </div>
      </div>
      {failure !== null && <ErrorNotice error={failure} />}
      <DialogFoot>
        {canEdit && <span className="muted small grow">{t.restoreHint}</span>}
        <Button onClick={onClose}>{t.close}</Button>
        {canEdit && (
          <Button kind="primary" icon="history" disabled={saving || isCurrent} onClick={restore}>
            {t.restoreVersion}
          </Button>
        )}
      </DialogFoot>
    </div>
  );
}

function VersionRow({
  version: one,
  chosen,
  choose,
}: {
  version: Version;
  chosen: number;
  choose: (version: number) => void;
}) {
  const t = useText(historyText);
  const language = useLanguage();
  const name = useAuthorName();
  const names: Record<string, string> = {
    title: t.what_title,
    content: t.what_content,
    tags: t.what_tags,
    private: t.what_private,
  };
  const what = new Set(one.changes.map((field) => names[field] ?? t.what_other));
  return (
    <label className="kn-version-row">
      <input
        type="radio"
        name="kn-version"
        // biome-ignore lint/a11y/noAutofocus: the versions appear in a dialog that has just been opened
        autoFocus={one.current}
        disabled={one.kind === "deleted"}
        checked={one.version === chosen}
        onChange={() => choose(one.version)}
      />
      <span>
        <strong>{t.version(one.version)}</strong> {one.current && <span className="tag">{t.current}</span>}
        <span className="muted small kn-version-about">
          {t[one.kind]} · {name(one.by)} · {dateTime(one.at, language)}
        </span>
        {what.size > 0 && <span className="muted small kn-version-about">{[...what].join(", ")}</span>}
      </span>
    </label>
  );
}

function Compared({ id, chosen, other }: { id: string; chosen: number; other: number | null }) {
  const t = useText(historyText);
  const after = useVersion(id, chosen);
  const before = useVersion(id, other);
  const error = after.error ?? before.error;
  if (error) return <ErrorNotice error={error} />;
  if (!after.data || (other !== null && !before.data)) return <Skeletons lines={4} />;
  const title = <h3 lang={languageOf(after.data.title)}>{after.data.title}</h3>;
  if (!before.data || other === null)
    return (
      <>
        {title}
        <NoteMarkdown>{after.data.content}</NoteMarkdown>
      </>
    );
  return (
    <>
      {title}
      <p className="muted small">{t.legend}</p>
      <Difference before={textOf(before.data)} after={textOf(after.data)} />
    </>
  );
}

/** Title and tags are compared too. */
function textOf(note: Note): string {
  const tags = note.tags.map((tag) => `#${tag}`).join(" ");
  return `${note.title}\n${tags}${tags && "\n"}\n${note.content}`;
}
