import { useDeferredValue, useState } from "react";
import { mergedText } from "../../../../core/diff";
import { useText } from "../../../i18n/language";
import { inboxText } from "../../../i18n/strings/inbox";
import { Button } from "../../../ui/button";
import { Dialog, DialogFoot } from "../../../ui/dialog";
import { ErrorNotice, Skeletons } from "../../../ui/feedback";
import { Field, SearchField, TextArea } from "../../../ui/field";
import { Form, useSaving } from "../../../ui/form";
import { languageOf, type Note, useNote, useSearch } from "../notes";
import { inbox, type Proposal } from "./inbox";

const SHOWN = 6;

/** Choose the note, edit the merged text, and merge; `onMerged` receives the note's title. */
export function MergeDialog({
  proposal,
  into,
  onClose,
  onMerged,
}: {
  proposal: Proposal;
  into: string | null;
  onClose: () => void;
  onMerged: (title: string) => void;
}) {
  const t = useText(inboxText);
  const first = into ?? proposal.similar[0]?.id ?? null;
  const [chosen, setChosen] = useState(first);
  return (
    <Dialog title={t.mergeTitle} wide onClose={onClose}>
      <div className="stack">
        <p className="muted">{t.mergeLead}</p>
        <Targets title={proposal.note.title} similar={proposal.similar} chosen={chosen} choose={setChosen} />
        {chosen && (
          <MergeForm
            key={chosen}
            text={(target) => [target.content, proposal.note.content]}
            into={chosen}
            focus={chosen === first}
            onClose={onClose}
            merge={async (target, content) => {
              await inbox.merge(proposal.note, target, content);
              onMerged(target.title);
            }}
          />
        )}
      </div>
    </Dialog>
  );
}

/** Notes to choose from: `similar` ones, and those that a search finds, at first for `title`. */
export function Targets({
  title: named,
  similar = [],
  without,
  chosen,
  choose,
}: {
  title: string;
  similar?: Proposal["similar"];
  without?: string;
  chosen: string | null;
  choose: (id: string) => void;
}) {
  const t = useText(inboxText);
  const [q, setQ] = useState("");
  const words = useDeferredValue(q.trim());
  const { data } = useSearch(words || named, null, null);
  const found = data?.hits.map(({ hit }) => hit).filter((hit) => !hit.proposal && hit.id !== without) ?? [];
  const listed = new Map([...(words ? [] : similar), ...found].map(({ id, title }) => [id, title]));
  return (
    <fieldset className="kn-targets" aria-label={t.mergeInto}>
      <SearchField
        label={t.mergeFind}
        data-autofocus={chosen ? undefined : true}
        value={q}
        onChange={(event) => setQ(event.target.value)}
      />
      {[...listed].slice(0, SHOWN).map(([id, title]) => (
        <label key={id} className="kn-private">
          <input type="radio" name="kn-target" checked={id === chosen} onChange={() => choose(id)} />
          <span lang={languageOf(title)}>{title}</span>
        </label>
      ))}
      {data && listed.size === 0 && <p className="muted small">{t.mergeNone}</p>}
    </fieldset>
  );
}

interface FormProps {
  into: string;
  /** The existing text, and the one to add to it. */
  text: (target: Note) => [string, string];
  merge: (target: Note, content: string) => Promise<void>;
  onClose: () => void;
  /** Whether the text takes the focus when it appears: not while the user goes through the notes to choose from. */
  focus: boolean;
}

export function MergeForm(props: FormProps) {
  const { data: target, error, refetch } = useNote(props.into);
  if (error) return <ErrorNotice error={error} retry={() => refetch()} />;
  return target ? <MergedText {...props} target={target} /> : <Skeletons lines={4} />;
}

function MergedText({ text, merge, target: current, focus, onClose }: FormProps & { target: Note }) {
  const t = useText(inboxText);
  const [target] = useState(current);
  const [content, setContent] = useState(() => mergedText(...text(target)));
  const { saving, failure, run } = useSaving();
  function submit() {
    if (content.trim()) void run(() => merge(target, content));
  }
  return (
    <Form submit={submit}>
      <Field label={t.mergedText}>
        {(control) => (
          <TextArea
            {...control}
            autoFocus={focus}
            data-autofocus={focus || undefined}
            className="kn-content"
            rows={10}
            required
            value={content}
            onChange={(event) => setContent(event.target.value)}
          />
        )}
      </Field>
      {failure !== null && <ErrorNotice error={failure} />}
      <DialogFoot onCancel={onClose}>
        <Button kind="primary" type="submit" disabled={saving || !content.trim()}>
          {t.doMerge}
        </Button>
      </DialogFoot>
    </Form>
  );
}
