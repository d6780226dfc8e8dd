import { lazy, Suspense, useEffect, useMemo, useRef, useState } from "react";
import {
  type Answer,
  EMPTY_ANSWER,
  type Part,
  type ReasoningPart,
  type SummaryPart,
  type ToolPart,
  textOf,
  type ViewRef,
} from "../../../../core/answer";
import { type Citation, citationsOf, citedNotes } from "../../../../core/citations";
import { decisionKey } from "../../../../core/conversation";
import type { Usage } from "../../../../core/events";
import { modelName } from "../../../../core/model-choice";
import { api } from "../../../api";
import { useText } from "../../../i18n/language";
import { chatText } from "../../../i18n/strings/chat";
import { Translated } from "../../../i18n/translate";
import { chats } from "../../../sessions/chats";
import { Button, IconButton } from "../../../ui/button";
import { CopyButton } from "../../../ui/copy-button";
import { ErrorBoundary } from "../../../ui/error-boundary";
import { Notice } from "../../../ui/feedback";
import { Sources } from "../markdown/sources";
import { ToolCard } from "../tools/tool-card";
import { EarlierSummary } from "./earlier-summary";
import type { MessageProps } from "./message";
import { MessageActions } from "./message-actions";
import { Reasoning } from "./reasoning";
import { Versions } from "./versions";

export const loadMarkdown = () => import("../markdown/markdown");
const Markdown = lazy(loadMarkdown);
const UsageDetails = lazy(() => import("./usage-details"));
const ToolView = lazy(() => import("../tools/mcp-app-view"));
const Approval = lazy(() => import("../tools/approval"));
const QuestionForm = lazy(() => import("../tools/server-question"));

export function AnswerView({ session, message, version, agentName, last, busy, decided }: MessageProps) {
  const t = useText(chatText);
  const answer = message.answer ?? EMPTY_ANSWER;
  const citations = useCitations(answer.parts);
  const streaming = answer.status === "streaming";
  useCountedCitations(answer, citations);
  return (
    <article
      className={`message assistant ${last ? "last" : ""}`}
      aria-label={agentName}
      aria-busy={streaming}
    >
      <div className="answer-name">
        <span className="avatar" aria-hidden="true" lang="ja">
          知
        </span>
        {agentName}
      </div>
      <div className="answer-parts">
        {grouped(answer.parts).map((group) =>
          group.type === "tools" ? (
            <Tools
              key={group.key}
              session={session}
              id={message.id}
              tools={group.tools}
              answer={answer}
              decided={decided}
            />
          ) : group.type === "summary" ? (
            <EarlierSummary key={group.key} part={group.part} live={streaming} />
          ) : group.type === "reasoning" ? (
            <Reasoning key={group.key} part={group.part} live={streaming && group.last} />
          ) : (
            <AnswerText key={group.key} text={group.text} citations={citations} />
          ),
        )}
        {streaming &&
          answer.questions.map((question) => (
            <Suspense key={question.id} fallback={null}>
              <QuestionForm messageId={message.id} question={question} />
            </Suspense>
          ))}
        {streaming && !answer.parts.some((part) => part.type === "text") && <Thinking answer={answer} />}
      </div>
      {citations.length > 0 && <Sources text={textOf(answer)} citations={citations} />}
      <Outcome
        answer={answer}
        busy={busy}
        retry={() => void chats.regenerate(session, message)}
        continueAnswer={
          last ? (question) => void chats.ask(session, question, message.agentId ?? undefined) : null
        }
      />
      {!streaming && (
        <div className="message-actions">
          <Versions session={session} version={version} answer={message.id} />
          <CopyButton text={() => textOf(answer)} label={t.copyMessage} />
          <IconButton
            small
            icon="refresh"
            label={t.regenerate}
            disabled={busy}
            onClick={() => void chats.regenerate(session, message)}
          />
          <MessageActions text={textOf(answer)} />
          {message.model && <span className="tokens model-used">{modelName(message.model)}</span>}
          {answer.usage && <AnswerUsage usage={answer.usage} />}
        </div>
      )}
    </article>
  );
}

/** Recomputed only when a tool has returned something, not with every piece of text. */
function useCitations(parts: Part[]): readonly Citation[] {
  const results = parts.filter((part): part is ToolPart => part.type === "tool" && part.result !== null);
  const key = results.map((part) => `${part.key}:${part.result?.content.length}`).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key identifies the results
  return useMemo(() => citationsOf(results), [key]);
}

/** Counts the notes that an answer cites, once it is complete and if it was generated while it was shown. */
function useCountedCitations(answer: Answer, citations: readonly Citation[]): void {
  const before = useRef(answer.status);
  useEffect(() => {
    const complete = before.current === "streaming" && answer.status === "complete";
    before.current = answer.status;
    const notes = complete ? citedNotes(textOf(answer), citations) : [];
    if (notes.length > 0) void api.post("api/knowledge/cited", { notes }).catch(() => undefined);
  }, [answer, citations]);
}

type Group =
  | { type: "text"; key: string; text: string }
  | { type: "reasoning"; key: string; part: ReasoningPart; last: boolean }
  | { type: "summary"; key: string; part: SummaryPart }
  | { type: "tools"; key: string; tools: ToolPart[] };

function grouped(parts: Part[]): Group[] {
  const groups: Group[] = [];
  parts.forEach((part, index) => {
    const before = groups.at(-1);
    if (part.type === "text") groups.push({ type: "text", key: `text-${index}`, text: part.text });
    else if (part.type === "reasoning")
      groups.push({ type: "reasoning", key: `reasoning-${index}`, part, last: index === parts.length - 1 });
    else if (part.type === "summary") groups.push({ type: "summary", key: `summary-${index}`, part });
    else if (before?.type === "tools") before.tools.push(part);
    else groups.push({ type: "tools", key: `tools-${index}`, tools: [part] });
  });
  return groups;
}

function AnswerText({ text, citations }: { text: string; citations: readonly Citation[] }) {
  const plain = <div className="plain-text">{text.trimStart()}</div>;
  return (
    <ErrorBoundary fallback={plain}>
      <Suspense fallback={plain}>
        <Markdown text={text} citations={citations} />
      </Suspense>
    </ErrorBoundary>
  );
}

interface ToolsProps {
  session: string;
  id: string;
  tools: ToolPart[];
  answer: Answer;
  decided: Record<string, boolean>;
}

function Tools({ session, id, tools, answer, decided }: ToolsProps) {
  return (
    <div className="tools">
      {tools.map((tool) => {
        const decision = decided[decisionKey(id, tool)];
        const waiting =
          tool.needsApproval && !tool.result && decision === undefined && answer.status === "streaming";
        return waiting ? (
          <Suspense key={tool.key} fallback={null}>
            <Approval session={session} messageId={id} tool={tool} />
          </Suspense>
        ) : (
          <div key={tool.key}>
            <ToolCard tool={tool} status={answer.status} decision={decision} />
            {tool.view && tool.result && !tool.result.isError && (
              <OptionalView tool={tool} view={tool.view} />
            )}
          </div>
        );
      })}
    </div>
  );
}

/** A view is shown when the user asks for it, so that a server cannot fill the page by itself. */
function OptionalView({ tool, view }: { tool: ToolPart; view: ViewRef }) {
  const t = useText(chatText);
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button small kind="quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? t.hideView : t.showView}
      </Button>
      {open && (
        <Suspense fallback={null}>
          <ToolView tool={tool} view={view} />
        </Suspense>
      )}
    </>
  );
}

function Thinking({ answer }: { answer: Answer }) {
  const t = useText(chatText);
  const open = answer.parts.some((part) => part.type === "tool" && !part.result);
  const last = answer.parts.at(-1);
  const shown = open || last?.type === "reasoning" || (last?.type === "summary" && last.text === null);
  return shown ? null : <span className="thinking">{t.thinking}</span>;
}

interface OutcomeProps {
  answer: Answer;
  busy: boolean;
  retry: () => void;
  /** Only the last answer can be continued. */
  continueAnswer: ((question: string) => void) | null;
}

function Outcome({ answer, busy, retry, continueAnswer }: OutcomeProps) {
  const t = useText(chatText);
  const again = (
    <Button small icon="refresh" disabled={busy} onClick={retry}>
      {t.retryAnswer}
    </Button>
  );
  if (answer.truncated && !textOf(answer).trim()) return <Notice kind="warn">{t.reasoningCutNote}</Notice>;
  if (answer.truncated && continueAnswer) {
    return (
      <Notice
        kind="warn"
        action={
          <Button small icon="right" disabled={busy} onClick={() => continueAnswer(t.continueQuestion)}>
            {t.continueAnswer}
          </Button>
        }
      >
        {t.truncatedNote}
      </Notice>
    );
  }
  if (answer.truncated) return <p className="answer-note">{t.truncatedNote}</p>;
  if (answer.filtered) return <Notice kind="warn">{t.filteredNote}</Notice>;
  if (answer.status === "stopped") return <p className="answer-note">{t.stoppedNote}</p>;
  if (answer.status === "interrupted") {
    return (
      <Notice kind="warn" action={again}>
        {t.interruptedNote}
      </Notice>
    );
  }
  if (answer.status !== "failed") return null;
  return (
    <Notice kind="bad" action={again}>
      {answer.error ? <Translated message={answer.error} /> : t.failedNote}
    </Notice>
  );
}

/** The tokens of an answer; the rest is loaded when it is opened. */
function AnswerUsage({ usage }: { usage: Usage }) {
  const t = useText(chatText);
  const [open, setOpen] = useState(false);
  const tokens = t.tokens(usage.input_tokens, usage.output_tokens);
  return (
    <details className="tokens" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{usage.estimated ? `≈ ${tokens}` : tokens}</summary>
      {open && (
        <Suspense fallback={null}>
          <UsageDetails usage={usage} />
        </Suspense>
      )}
    </details>
  );
}
