import "./message.css";
import { memo } from "react";
import type { Message } from "../../../core/conversation";
import { AnswerView } from "./answer-view";
import { QuestionView } from "./question-view";

export interface Place {
  /** Which of the messages that could stand here this is. */
  number: number;
  of: number;
  previous: string | null;
  next: string | null;
}

export interface MessageProps {
  session: string;
  message: Message;
  place: Place;
  agentName: string;
  last: boolean;
  /** Something is being answered: nothing else can be asked meanwhile. */
  busy: boolean;
  decided: Record<string, boolean>;
}

/** Drawn again only when something of it changed: a growing answer leaves the others alone. */
export const MessageView = memo(function MessageView(props: MessageProps) {
  return props.message.role === "user" ? <QuestionView {...props} /> : <AnswerView {...props} />;
}, same);

function same(before: MessageProps, after: MessageProps): boolean {
  const { place: a, ...rest } = before;
  const { place: b, ...others } = after;
  const samePlace = a.number === b.number && a.of === b.of && a.previous === b.previous && a.next === b.next;
  return samePlace && (Object.keys(rest) as (keyof typeof rest)[]).every((key) => rest[key] === others[key]);
}
