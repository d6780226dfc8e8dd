import { useState } from "react";
import { api } from "../../api";
import { useText } from "../../i18n/language";
import { Button } from "../../ui/button";
import { ErrorNotice } from "../../ui/feedback";
import { memoryText } from "./memory-text";

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
  const t = useText(memoryText);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  async function suggest() {
    setBusy(true);
    setFailure(null);
    try {
      const found = await api.post<{ questions: string[] }>("api/chat/suggest-questions", { title, content });
      add(found.questions);
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
          disabled={busy || !content.trim()}
          onClick={() => void suggest()}
        >
          {busy ? t.suggesting : t.suggest}
        </Button>
      </div>
      {failure !== null && <ErrorNotice error={failure} />}
    </>
  );
}
