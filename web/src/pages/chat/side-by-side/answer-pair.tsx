import "./answer-pair.css";
import type { Message } from "../../../../core/conversation";
import { useText } from "../../../i18n/language";
import { sideBySideText } from "../../../i18n/strings/side-by-side";
import { chats } from "../../../sessions/chats";
import { Button, IconButton } from "../../../ui/button";
import { MessageView } from "../messages/message";
import { sideBySide } from "./side-by-side";

interface Props {
  session: string;
  pair: [Message, Message];
  /** The one on the branch, which the next question continues. */
  current: string;
  agentName: (id: string | null) => string;
  last: boolean;
  busy: boolean;
  decided: Record<string, boolean>;
}

const ALONE = { number: 1, of: 1, previous: null, next: null };

/** Two answers to one question; on a narrow screen the second one is swiped in. */
export function AnswerPair({ session, pair, current, agentName, last, busy, decided }: Props) {
  const t = useText(sideBySideText);
  return (
    <section className="answer-pair" aria-label={t.sideBySide}>
      {pair.map((message, index) => (
        <div
          key={message.id}
          data-message={message.id}
          className={`answer-side ${message.id === current ? "current" : ""}`}
        >
          <MessageView
            session={session}
            message={message}
            version={ALONE}
            agentName={agentName(message.agentId)}
            last={last}
            busy={busy}
            decided={decided}
          />
          <div className="answer-choice">
            {message.id === current ? (
              <span className="answer-note">{t.continued}</span>
            ) : (
              <Button small onClick={() => chats.select(session, message.id)}>
                {t.continueWith}
              </Button>
            )}
            <IconButton
              small
              icon="close"
              label={t.close(agentName(message.agentId))}
              onClick={() => {
                chats.select(session, (index === 0 ? pair[1] : pair[0]).id);
                sideBySide.hide(message.id);
              }}
            />
          </div>
        </div>
      ))}
    </section>
  );
}
