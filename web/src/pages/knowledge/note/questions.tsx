/** The questions that a note answers, and the errors that it explains. */
import { useText } from "../../../i18n/language";
import { noteText } from "../../../i18n/strings/note";
import { ErrorText } from "../../../i18n/translate";
import { IconButton } from "../../../ui/button";
import { useToast } from "../../../ui/toast";
import { languageOf, type Note, notes } from "../notes";

export function Questions({ questions }: { questions: string[] }) {
  const t = useText(noteText);
  if (questions.length === 0) return null;
  return (
    <section className="kn-questions" aria-label={t.questionsTitle}>
      <h3>{t.questionsTitle}</h3>
      <ul>
        {questions.map((question) => (
          <li key={question} lang={languageOf(question)}>
            {question}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** With `remove`, each has a button. */
export function Signatures({
  signatures,
  remove,
}: {
  signatures: string[];
  remove?: (signature: string) => void;
}) {
  const t = useText(noteText);
  if (signatures.length === 0) return null;
  return (
    <section className="kn-questions" aria-label={t.signatures}>
      <h3 title={t.signaturesHint}>{t.signatures}</h3>
      <ul>
        {signatures.map((signature) => (
          <li key={signature} className="kn-signature">
            <code>{signature}</code>
            {remove && (
              <IconButton
                small
                icon="close"
                label={t.removeSignature(signature)}
                onClick={() => remove(signature)}
              />
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The signatures of a stored note, removable one by one. */
export function NoteSignatures({ note, canEdit }: { note: Note; canEdit: boolean }) {
  const t = useText(noteText);
  const toast = useToast();
  const fail = (error: unknown) => toast(<ErrorText error={error} />);
  async function remove(signature: string) {
    try {
      const errors = note.signatures.filter((one) => one !== signature);
      const saved = await notes.change(note.id, { errors }, note.updated_at);
      toast(t.signatureRemoved, {
        undo: () => void notes.change(note.id, { errors: note.signatures }, saved.updated_at).catch(fail),
      });
    } catch (error) {
      fail(error);
    }
  }
  return (
    <Signatures
      signatures={note.signatures}
      remove={canEdit ? (signature) => void remove(signature) : undefined}
    />
  );
}

/** In a list of hits: the question that the search matched. */
export function MatchedQuestion({ question }: { question: string | null }) {
  const t = useText(noteText);
  if (!question) return null;
  return (
    <span className="kn-matched" lang={languageOf(question)}>
      <span className="muted">{t.matched}</span> {question}
    </span>
  );
}
