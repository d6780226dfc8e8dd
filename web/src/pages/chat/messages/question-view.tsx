import { useState } from "react";
import type { Attachment } from "../../../../core/attachment";
import { isLocal } from "../../../../core/conversation";
import { drafts, useDraft } from "../../../drafts";
import { useText } from "../../../i18n/language";
import { chatText } from "../../../i18n/strings/chat";
import { shellText } from "../../../i18n/strings/shell";
import { chats } from "../../../sessions/chats";
import { Button, IconButton } from "../../../ui/button";
import { CopyButton } from "../../../ui/copy-button";
import { TextArea } from "../../../ui/field";
import { MessageFiles } from "../attachments/message-files";
import type { MessageProps } from "./message";
import { MessageActions } from "./message-actions";
import { Versions } from "./versions";

const FOLD_LENGTH = 1_500;
const FOLD_LINES = 20;

export function QuestionView({ session, message, version, last, busy }: MessageProps) {
  const t = useText(chatText);
  const rewrite = `edit.${message.id}`;
  // Unmounted while scrolled out of view; a rewrite in progress is restored from its draft.
  const [editing, setEditing] = useState(() => (drafts.read(rewrite) ? "kept" : null));
  const send = async (text: string, files: readonly Attachment[]) => {
    setEditing(null);
    if (await chats.edit(session, message, text, undefined, files)) drafts.write(rewrite, "");
    else setEditing("kept");
  };
  if (editing) {
    return (
      <article className="message user" aria-label={t.you}>
        <EditQuestion
          text={message.text}
          attachments={message.attachments}
          rewrite={rewrite}
          focused={editing === "opened"}
          busy={busy}
          onCancel={() => {
            drafts.write(rewrite, "");
            setEditing(null);
          }}
          onSend={(text, files) => void send(text, files)}
        />
      </article>
    );
  }
  return (
    <article className={`message user ${last ? "last" : ""}`} aria-label={t.you}>
      <MessageFiles files={message.attachments} />
      {message.text && (
        <div className="bubble">
          <Folded text={message.text} />
        </div>
      )}
      <div className="message-actions">
        <Versions session={session} version={version} />
        <CopyButton text={() => message.text} label={t.copyMessage} />
        <IconButton
          small
          icon="edit"
          label={t.edit}
          disabled={busy || isLocal(message)}
          onClick={() => setEditing("opened")}
        />
        <MessageActions text={message.text} question />
      </div>
    </article>
  );
}

function Folded({ text }: { text: string }) {
  const t = useText(chatText);
  const long = text.length > FOLD_LENGTH || text.split("\n").length > FOLD_LINES;
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
  attachments,
  rewrite,
  focused,
  busy,
  onCancel,
  onSend,
}: {
  text: string;
  attachments: readonly Attachment[];
  /** The draft's key. */
  rewrite: string;
  focused: boolean;
  busy: boolean;
  onCancel: () => void;
  onSend: (text: string, files: readonly Attachment[]) => void;
}) {
  const t = useText(chatText);
  const shell = useText(shellText);
  const [draft, setDraft] = useDraft(rewrite);
  const [emptied, setEmptied] = useState(false);
  const value = draft || (emptied ? "" : text);
  const [files, setFiles] = useState(attachments);
  const ready = (Boolean(value.trim()) || files.length > 0) && !busy;
  const send = () => ready && onSend(value, files);
  return (
    <div className="edit-question">
      <MessageFiles files={files} onRemove={(file) => setFiles(files.filter((one) => one !== file))} />
      <TextArea
        autoFocus={focused}
        aria-label={t.editField}
        value={value}
        rows={Math.min(12, value.split("\n").length + 1)}
        onChange={(event) => {
          setDraft(event.target.value);
          setEmptied(!event.target.value);
        }}
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
        <Button small kind="primary" disabled={!ready} onClick={send}>
          {t.editSend}
        </Button>
      </div>
    </div>
  );
}
