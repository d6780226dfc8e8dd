import "./queued-messages.css";
import type { Attachment } from "../../../../core/attachment";
import type { Conversation } from "../../../../core/conversation";
import type { UnsavedMessage } from "../../../../core/message-queue";
import { serverText } from "../../../../core/server-message";
import type { QueuedMessage } from "../../../../core/transport";
import { useText } from "../../../i18n/language";
import { queuedText } from "../../../i18n/strings/queue";
import { Translated, useErrorText } from "../../../i18n/translate";
import { chats } from "../../../sessions/chats";
import { IconButton } from "../../../ui/button";
import { Icon } from "../../../ui/icon";
import { useToast } from "../../../ui/toast";
import { FileChip } from "../attachments/message-files";
import { focusField } from "../composer/composer";
import { giveBack, messageQueue } from "./sending";

interface Item {
  id: string;
  text: string;
  attachments: readonly Attachment[];
  /** Null until the server has it. */
  queued: QueuedMessage | null;
}

/** The messages that are sent after the answer that runs. */
export default function QueuedMessages({
  session,
  conversation,
  unsaved,
}: {
  session: string;
  conversation: Conversation;
  unsaved: readonly UnsavedMessage[];
}) {
  const t = useText(queuedText);
  const items: Item[] = [
    ...conversation.queue.map((one) => ({
      id: one.message_id,
      text: one.content,
      attachments: one.attachments,
      queued: one,
    })),
    ...unsaved.map(({ id, text, attachments }) => ({ id, text, attachments, queued: null })),
  ];
  const first = conversation.queue[0];
  const status = conversation.messages.find((one) => one.id === first?.parent_id)?.answer?.status;
  return (
    <section className="queued" aria-label={t.queue}>
      <div className="queued-note" role="status">
        <Icon name="history" size={14} />
        <span>
          <State first={first} status={status} />
        </span>
      </div>
      <ul>
        {items.map((item) => (
          <Row key={item.id} session={session} item={item} live={conversation.live !== null} />
        ))}
      </ul>
    </section>
  );
}

function State({ first, status }: { first: QueuedMessage | undefined; status: string | undefined }) {
  const t = useText(queuedText);
  if (!first) return t.saving;
  if (first.error_code)
    return (
      <>
        {t.notSent}{" "}
        <Translated
          message={{ text: serverText(first.error_code), code: first.error_code, params: first.error_params }}
        />
      </>
    );
  const now = status ?? first.status;
  if (now === "streaming") return t.whenComplete;
  if (now === "complete") return t.sending;
  return now === "stopped" ? t.stopped : t.failed;
}

function Row({ session, item, live }: { session: string; item: Item; live: boolean }) {
  const t = useText(queuedText);
  const toast = useToast();
  const why = useErrorText();
  const remove = async (): Promise<boolean> => {
    try {
      const removed = await messageQueue.remove(session, item.id);
      if (!removed) toast(t.alreadySent);
      return removed;
    } catch (error) {
      toast(`${t.removeFailed} ${why(error)}`);
      return false;
    }
  };
  const edit = async () => {
    if (!(await remove())) return;
    giveBack(session, item.text, item.attachments);
    focusField();
  };
  const send = () =>
    chats.sendNow(session, item.id).catch((error: unknown) => toast(`${t.sendFailed} ${why(error)}`));
  return (
    <li className="queued-item">
      <div className="queued-text">
        {item.text && <div className="queued-words">{item.text}</div>}
        {item.attachments.length > 0 && (
          <span className="queued-files">
            {item.attachments.map((file) => (
              <FileChip key={file.attachment_id} file={file} />
            ))}
          </span>
        )}
      </div>
      <IconButton
        small
        icon="send"
        label={live ? t.stopAndSend : t.sendNow}
        disabled={!item.queued}
        onClick={() => void send()}
      />
      <IconButton small icon="edit" label={t.edit} onClick={() => void edit()} />
      <IconButton
        small
        icon="close"
        label={t.remove}
        onClick={() => void remove().then(() => focusField())}
      />
    </li>
  );
}
