import { useDeferredValue, useState } from "react";
import { useText } from "../../i18n/language";
import { Button } from "../../ui/button";
import { Dialog, DialogFoot } from "../../ui/dialog";
import { ErrorNotice, Skeletons } from "../../ui/feedback";
import { Field, SearchField, TextArea } from "../../ui/field";
import { Form, useSaving } from "../../ui/form";
import { mergedText } from "./diff";
import { inbox, type Proposal } from "./inbox";
import { memoryText } from "./memory-text";
import { languageOf, type Note, useNote, useSearch } from "./notes";
import { knowledgeText } from "./text";

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
  const t = useText(memoryText);
  const first = into ?? proposal.similar[0]?.id ?? null;
  const [chosen, setChosen] = useState(first);
  return (
    <Dialog title={t.mergeTitle} wide onClose={onClose}>
      <div className="stack">
        <p className="muted">{t.mergeLead}</p>
        <Targets proposal={proposal} chosen={chosen} choose={setChosen} />
        {chosen && (
          <MergeForm
            key={chosen}
            proposal={proposal}
            into={chosen}
            focus={chosen === first}
            onClose={onClose}
            onMerged={onMerged}
          />
        )}
      </div>
    </Dialog>
  );
}

function Targets({
  proposal,
  chosen,
  choose,
}: {
  proposal: Proposal;
  chosen: string | null;
  choose: (id: string) => void;
}) {
  const t = useText(memoryText);
  const [q, setQ] = useState("");
  const words = useDeferredValue(q.trim());
  const { data } = useSearch(words || proposal.note.title, null, null);
  const found = data?.hits.map(({ hit }) => hit).filter((hit) => !hit.proposal) ?? [];
  const listed = new Map([...(words ? [] : proposal.similar), ...found].map(({ id, title }) => [id, title]));
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
  proposal: Proposal;
  into: string;
  onClose: () => void;
  /** Whether the text takes the focus when it appears: not while the user goes through the notes to choose from. */
  focus: boolean;
  onMerged: (title: string) => void;
}

function MergeForm(props: FormProps) {
  const { data: target, error, refetch } = useNote(props.into);
  if (error) return <ErrorNotice error={error} retry={() => refetch()} />;
  return target ? <MergedText {...props} target={target} /> : <Skeletons lines={4} />;
}

function MergedText({ proposal, target: current, focus, onClose, onMerged }: FormProps & { target: Note }) {
  const t = useText(memoryText);
  const common = useText(knowledgeText);
  const [target] = useState(current);
  const [content, setContent] = useState(() => mergedText(target.content, proposal.note.content));
  const { saving, failure, run } = useSaving();
  function merge() {
    if (!content.trim()) return;
    void run(async () => {
      await inbox.merge(proposal.note.id, target.id, content);
      onMerged(target.title);
    });
  }
  return (
    <Form submit={merge}>
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
      <DialogFoot>
        <Button onClick={onClose}>{common.cancel}</Button>
        <Button kind="primary" type="submit" disabled={saving || !content.trim()}>
          {t.doMerge}
        </Button>
      </DialogFoot>
    </Form>
  );
}
