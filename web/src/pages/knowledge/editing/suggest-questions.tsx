import { useEffect, useRef, useState } from "react";
import { api } from "../../../api";
import { useText } from "../../../i18n/language";
import { noteText } from "../../../i18n/strings/note";
import { Button } from "../../../ui/button";
import { ErrorNotice } from "../../../ui/feedback";

/** Asks the connected model for questions; the user edits and saves them. */
export function SuggestQuestions({
  title,
  content,
  add,
}: {
  title: string;
  content: string;
  add: (questions: string[]) => void;
}) {
  const t = useText(noteText);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const [added, setAdded] = useState(0);
  // The model takes seconds: what the user types meanwhile must not be replaced by the form as it was before.
  const latest = useRef(add);
  useEffect(() => {
    latest.current = add;
  }, [add]);
  async function suggest() {
    if (busy) return;
    setBusy(true);
    setFailure(null);
    try {
      const found = await api.post<{ questions: string[] }>("api/chat/suggest-questions", { title, content });
      latest.current(found.questions);
      setAdded(found.questions.length);
    } catch (error) {
      setFailure(error);
    } finally {
      setBusy(false);
    }
  }
  return (
    <>
      <div>
        <Button
          small
          icon="spark"
          title={t.suggestHint}
          disabled={!content.trim()}
          aria-disabled={busy || undefined}
          onClick={() => void suggest()}
        >
          {busy ? t.suggesting : t.suggest}
        </Button>
        <span role="status" className="hidden-text">
          {busy ? t.suggesting : added > 0 ? t.suggested(added) : ""}
        </span>
      </div>
      {failure !== null && <ErrorNotice error={failure} />}
    </>
  );
}
