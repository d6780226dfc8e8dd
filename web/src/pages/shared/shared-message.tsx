import "../chat/messages/message.css";
import { lazy, Suspense } from "react";
import { EMPTY_ANSWER, type Part, type ToolPart, textOf } from "../../../core/answer";
import { citationsOf } from "../../../core/citations";
import type { Message } from "../../../core/conversation";
import { useText } from "../../i18n/language";
import { chatText } from "../../i18n/strings/chat";
import { Translated } from "../../i18n/translate";
import { Notice } from "../../ui/feedback";
import { MessageFiles } from "../chat/attachments/message-files";
import { Sources } from "../chat/markdown/sources";
import { EarlierSummary } from "../chat/messages/earlier-summary";
import { Reasoning } from "../chat/messages/reasoning";
import { ToolCard } from "../chat/tools/tool-card";

const Markdown = lazy(() => import("../chat/markdown/markdown"));

/** A message without anything that would change it. */
export function SharedMessage({ message, agentName }: { message: Message; agentName: string }) {
  return message.role === "user" ? (
    <Question message={message} />
  ) : (
    <Answer message={message} agentName={agentName} />
  );
}

function Question({ message }: { message: Message }) {
  const t = useText(chatText);
  return (
    <article className="message user" aria-label={t.you}>
      <MessageFiles files={message.attachments} />
      {message.text && (
        <div className="bubble">
          <div className="bubble-text">{message.text}</div>
        </div>
      )}
    </article>
  );
}

function Answer({ message, agentName }: { message: Message; agentName: string }) {
  const t = useText(chatText);
  const answer = message.answer ?? EMPTY_ANSWER;
  const results = answer.parts.filter(
    (part): part is ToolPart => part.type === "tool" && part.result !== null,
  );
  const citations = citationsOf(results);
  return (
    <article className="message assistant" aria-label={agentName}>
      <div className="answer-name">
        <span className="avatar" aria-hidden="true" lang="ja">
          知
        </span>
        {agentName}
      </div>
      <div className="answer-parts">
        {answer.parts.map((part, index) => (
          <SharedPart
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts do not change
            key={index}
            part={part}
            text={(text) => <Markdown text={text} citations={citations} />}
          />
        ))}
      </div>
      {citations.length > 0 && <Sources text={textOf(answer)} citations={citations} />}
      {answer.status === "stopped" && <p className="answer-note">{t.stoppedNote}</p>}
      {(answer.status === "failed" || answer.status === "interrupted") && (
        <Notice kind="warn">{answer.error ? <Translated message={answer.error} /> : t.failedNote}</Notice>
      )}
    </article>
  );
}

function SharedPart({ part, text }: { part: Part; text: (text: string) => React.ReactNode }) {
  if (part.type === "tool") {
    return (
      <div className="tools">
        <ToolCard tool={part} status="complete" />
      </div>
    );
  }
  if (part.type === "reasoning") return <Reasoning part={part} live={false} />;
  if (part.type === "summary") return <EarlierSummary part={part} live={false} />;
  return <Suspense fallback={<div className="plain-text">{part.text}</div>}>{text(part.text)}</Suspense>;
}
