import { useState } from "react";
import { isLocal } from "../../../core/chats";
import { chatText } from "../../i18n/chat";
import { useText } from "../../i18n/language";
import { shellText } from "../../i18n/shell";
import { Button, IconButton } from "../../ui/button";
import { TextArea } from "../../ui/field";
import { chats } from "./client";
import { CopyButton } from "./copy";
import type { MessageProps } from "./message";
import { MessageActions } from "./message-actions";
import { Versions } from "./versions";

const LONG = 1_500;

export function QuestionView({ session, message, place, last, busy }: MessageProps) {
  const t = useText(chatText);
  const [editing, setEditing] = useState(false);
  if (editing) {
    return (
      <article className="message user" aria-label={t.you}>
        <EditQuestion
          text={message.text}
          onCancel={() => setEditing(false)}
          onSend={(text) => {
            setEditing(false);
            void chats.edit(session, message, text);
          }}
        />
      </article>
    );
  }
  return (
    <article className={`message user ${last ? "last" : ""}`} aria-label={t.you}>
      <div className="bubble">
        <Folded text={message.text} />
      </div>
      <div className="message-actions">
        <Versions session={session} place={place} />
        <CopyButton text={() => message.text} label={t.copyMessage} />
        <IconButton
          small
          icon="edit"
          label={t.edit}
          disabled={busy || isLocal(message)}
          onClick={() => setEditing(true)}
        />
        <MessageActions text={message.text} />
      </div>
    </article>
  );
}

function Folded({ text }: { text: string }) {
  const t = useText(chatText);
  const long = text.length > LONG || text.split("\n").length > 20;
  const [folded, setFolded] = useState(true);
  if (!long) return <div className="bubble-text">{text}</div>;
  return (
    <>
      <div className={`bubble-text ${folded ? "folded" : ""}`}>{text}</div>
      <Button small kind="quiet" aria-expanded={!folded} onClick={() => setFolded(!folded)}>
        {folded ? t.showAll : t.showLess}
      </Button>
    </>
  );
}

function EditQuestion({
  text,
  onCancel,
  onSend,
}: {
  text: string;
  onCancel: () => void;
  onSend: (text: string) => void;
}) {
  const t = useText(chatText);
  const shell = useText(shellText);
  const [value, setValue] = useState(text);
  const send = () => value.trim() && onSend(value);
  return (
    <div className="edit-question">
      <TextArea
        autoFocus
        aria-label={t.editField}
        value={value}
        rows={Math.min(12, value.split("\n").length + 1)}
        onChange={(event) => setValue(event.target.value)}
        onEscape={onCancel}
        onEnter={(event) => {
          if (!event.ctrlKey && !event.metaKey) return;
          event.preventDefault();
          send();
        }}
      />
      <div className="row">
        <span className="grow" />
        <Button small onClick={onCancel}>
          {shell.cancel}
        </Button>
        <Button small kind="primary" disabled={!value.trim()} onClick={send}>
          {t.editSend}
        </Button>
      </div>
    </div>
  );
}
