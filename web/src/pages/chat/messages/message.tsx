import "./message.css";
import { memo } from "react";
import type { Message } from "../../../../core/conversation";
import { AnswerView } from "./answer-view";
import { QuestionView } from "./question-view";

/** A message's position among its versions. */
export interface Version {
  number: number;
  of: number;
  previous: string | null;
  next: string | null;
}

export interface MessageProps {
  session: string;
  message: Message;
  version: Version;
  agentName: string;
  last: boolean;
  /** An answer is streaming; nothing else can be asked meanwhile. */
  busy: boolean;
  decided: Record<string, boolean>;
}

/** Rendered again only when its own props change, not with every event of another answer. */
export const MessageView = memo(function MessageView(props: MessageProps) {
  return props.message.role === "user" ? <QuestionView {...props} /> : <AnswerView {...props} />;
}, same);

function same(before: MessageProps, after: MessageProps): boolean {
  const { version: a, ...rest } = before;
  const { version: b, ...others } = after;
  const sameVersion =
    a.number === b.number && a.of === b.of && a.previous === b.previous && a.next === b.next;
  return (
    sameVersion && (Object.keys(rest) as (keyof typeof rest)[]).every((key) => rest[key] === others[key])
  );
}
