import { useState } from "react";
import { messageIn, type WithOptionalText } from "../../../core/server-message";
import { api } from "../../api";
import { useText } from "../../i18n/language";
import { serversText } from "../../i18n/strings/servers";
import { Translated } from "../../i18n/translate";
import { Button } from "../../ui/button";
import { ErrorNotice, Notice } from "../../ui/feedback";
import { Field, TextInput } from "../../ui/field";
import { languageOf } from "../knowledge/notes";
import type { BuiltInServer } from "../setup/setup";
import { Snippet } from "./snippet";

interface Answer extends WithOptionalText<"notice"> {
  answer: string;
  citations: { content: string | null; uri?: string | null; score?: number | null }[];
}

const SETTINGS = "BEDROCK_KB_ID=ABCDEFGHIJ\nBEDROCK_MODEL_ARN=arn:aws:bedrock:…\nAWS_REGION=ap-northeast-1";

export function BedrockPanel({ server }: { server: BuiltInServer }) {
  const t = useText(serversText);
  return (
    <section className="card stack" aria-labelledby="sv-bedrock">
      <div>
        <h2 id="sv-bedrock">{t.bedrock}</h2>
        <p className="muted">{server.open ? t.bedrockLead : t.bedrockOff}</p>
        <p className="muted small">{t.bedrockCost}</p>
      </div>
      {server.open ? (
        <TestQuestion />
      ) : (
        <>
          {server.reason && (
            <Notice>
              <Translated message={messageIn(server, "reason")} />
            </Notice>
          )}
          <Snippet text={SETTINGS} label={t.bedrock} />
          <p className="muted small">{t.setHint}</p>
        </>
      )}
    </section>
  );
}

function TestQuestion() {
  const t = useText(serversText);
  const [question, setQuestion] = useState("");
  const [asking, setAsking] = useState(false);
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [failure, setFailure] = useState<unknown>(null);

  async function ask() {
    if (!question.trim() || asking) return;
    setAsking(true);
    setAnswer(null);
    setFailure(null);
    try {
      setAnswer(await api.post<Answer>("api/bedrock-kb/ask", { query: question.trim() }));
    } catch (error) {
      setFailure(error);
    } finally {
      setAsking(false);
    }
  }

  return (
    <>
      <div className="sv-ask">
        <Field label={t.question}>
          {(control) => (
            <TextInput
              {...control}
              value={question}
              maxLength={1000}
              onChange={(event) => setQuestion(event.target.value)}
              onEnter={() => void ask()}
            />
          )}
        </Field>
        <Button kind="primary" disabled={asking || !question.trim()} onClick={ask}>
          {asking ? t.asking : t.ask}
        </Button>
      </div>
      {failure !== null && <ErrorNotice error={failure} />}
      <div role="status" className="stack">
        {answer && (
          <>
            <p className="sv-answer" lang={languageOf(answer.answer)}>
              {answer.answer}
            </p>
            {answer.notice && (
              <Notice kind="warn">
                <Translated message={messageIn(answer, "notice")} />
              </Notice>
            )}
            <Sources answer={answer} />
          </>
        )}
      </div>
    </>
  );
}

function Sources({ answer }: { answer: Answer }) {
  const t = useText(serversText);
  if (answer.citations.length === 0) return <Notice kind="warn">{t.noSources}</Notice>;
  return (
    <details className="sv-tools">
      <summary>
        {t.sources} ({answer.citations.length})
      </summary>
      <ol>
        {answer.citations.map((citation, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes
          <li key={index}>
            {citation.uri && <code>{citation.uri}</code>}
            {citation.content && <p className="small muted">{citation.content}</p>}
          </li>
        ))}
      </ol>
    </details>
  );
}
