import { type ChangeEvent, memo, useEffect, useLayoutEffect, useRef, useSyncExternalStore } from "react";
import type { Attachment } from "../../../../core/attachment";
import type { Upload } from "../../../../core/upload-list";
import { useDraft } from "../../../drafts";
import { useText } from "../../../i18n/language";
import { chatText } from "../../../i18n/strings/chat";
import { useStoredSetting } from "../../../stored-setting";
import { Button, IconButton } from "../../../ui/button";
import { useComposition } from "../../../ui/field";
import { isPermanent, UnableNotice, UploadChips, useUnable } from "../attachments/upload-chips";
import { uploads } from "../attachments/uploads";
import { ModelButton } from "../models/model-button";
import { pendingSends, submitWhenUploaded } from "../queue/sending";
import { SecondAgent } from "../side-by-side/second-agent";
import { AgentMenu } from "./agent-menu";
import { IS_MAC, SendMenu, sendKey, sends } from "./send-menu";
import { useSuggestions } from "./use-suggestions";

const FIELD = "message";
const MAX_MESSAGE = 200_000;
const MAX_FILES = 10;
const HAS_FIELD_SIZING = CSS.supports("field-sizing", "content");

interface Props {
  session: string;
  agentId: string | null;
  onAgent: (id: string) => void;
  live: string | null;
  disabled: boolean;
  onSend: (text: string, files: readonly Attachment[]) => void;
  onStop: () => void;
  dropped: { files: File[]; key: number } | null;
}

/** Not on touch devices, where the on-screen keyboard would cover half of the page. */
export function focusField(): void {
  if (matchMedia("(pointer: fine)").matches) document.getElementById(FIELD)?.focus();
}

/**
 * Holds the typed text itself, so that a key press renders nothing else; its menus are memoized, because they cost more
 * than all the rest. An answer that grows does not render it.
 */
export const Composer = memo(function Composer(props: Props) {
  const { session, agentId, onAgent, live, disabled, onSend, onStop, dropped } = props;
  const t = useText(chatText);
  const [text, setText] = useDraft(session);
  const files = useFiles(session, dropped);
  const unable = useUnable(files, agentId, session);
  const chosen = useStoredSetting(sendKey);
  const area = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const over = text.length - MAX_MESSAGE;
  const uploaded = files.flatMap((one) => one.attachment ?? []);
  const problem = problemWith(files, t);
  const uploading = files.some((one) => !one.attachment && !one.error);
  const waiting = useSyncExternalStore(pendingSends.subscribe, () => pendingSends.has(session));
  const filled = Boolean(text.trim()) || files.length > 0;
  const ready = filled && over <= 0 && !problem && !unable && !disabled;
  const submit = () => {
    if (!ready) return;
    if (uploading) {
      submitWhenUploaded(session, agentId);
      return;
    }
    onSend(text, uploaded);
    setText("");
    uploads.clear(session);
  };
  const suggestions = useSuggestions({ area, session, agentId, text, setText });
  const composition = useComposition<HTMLTextAreaElement>(
    {
      onEnter: (event) => {
        if (suggestions.takes(event) || !sends(event, chosen)) return;
        event.preventDefault();
        submit();
      },
      onEscape: (event) => {
        if (suggestions.takes(event)) return;
        if (waiting) pendingSends.cancel(session);
        else if (live) onStop();
      },
    },
    (event) => ["ArrowDown", "ArrowUp", "Tab"].includes(event.key) && suggestions.takes(event),
  );
  useAutoHeight(area, text);
  // biome-ignore lint/correctness/useExhaustiveDependencies: focus moves with the session
  useEffect(focusField, [session]);
  const keys = chosen === "enter" ? t.hintEnter : IS_MAC ? t.hintCmd : t.hintCtrl;
  const hint = uploading ? t.filesUploading : live && filled ? t.hintQueue : keys;
  return (
    <>
      <form
        className="composer"
        aria-label={t.messageField}
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <div className="composer-box">
          {suggestions.list}
          <UploadChips session={session} list={files} />
          {unable && (
            <div className="composer-notice">
              <UnableNotice unable={unable} onAgent={onAgent} />
            </div>
          )}
          <textarea
            ref={area}
            id={FIELD}
            rows={1}
            aria-label={t.messageField}
            placeholder={t.placeholder}
            value={text}
            onChange={(event) => {
              setText(event.target.value);
              pendingSends.cancel(session); // it would be sent half-written
              suggestions.follow();
            }}
            onPaste={(event) => {
              const pasted = pastedFiles(event.clipboardData);
              if (!pasted.length) return;
              event.preventDefault();
              uploads.add(session, pasted);
            }}
            {...suggestions.field}
            {...composition}
          />
          <div className="composer-bar">
            <IconButton icon="plus" label={t.attach} onClick={() => picker.current?.click()} />
            <input
              ref={picker}
              type="file"
              multiple
              hidden
              onChange={(event: ChangeEvent<HTMLInputElement>) => {
                uploads.add(session, [...(event.target.files ?? [])]);
                event.target.value = "";
              }}
            />
            <AgentMenu session={session} chosen={agentId} onChoose={onAgent} />
            <ModelButton session={session} agentId={agentId} onAgent={onAgent} />
            <SecondAgent session={session} agentId={agentId} />
            <span className="grow" />
            <SendMenu />
            {live && <IconButton className="send" kind="plain" icon="stop" label={t.stop} onClick={onStop} />}
            {(!live || filled) && (
              <IconButton
                className="send"
                type="submit"
                kind="primary"
                icon="send"
                label={live ? t.queueMessage : t.send}
                disabled={!ready || waiting}
              />
            )}
          </div>
        </div>
        {over > 0 ? (
          <p className="field-error" role="alert">
            {t.tooLong(over)}
          </p>
        ) : (
          <p className={problem || waiting ? "composer-hint problem" : "composer-hint"} role="status">
            {waiting ? t.filesWaiting : (problem ?? hint)}
            {waiting && (
              <Button small kind="quiet" onClick={() => pendingSends.cancel(session)}>
                {t.doNotSend}
              </Button>
            )}
          </p>
        )}
      </form>
      {suggestions.dialog}
    </>
  );
});

/** Why the files keep the question from being sent. */
function problemWith(files: readonly Upload[], t: typeof chatText.en): string | null {
  if (files.length > MAX_FILES) return t.filesTooMany;
  if (files.some((one) => isPermanent(one.error))) return t.filesRefused;
  return files.some((one) => one.error) ? t.filesFailed : null;
}

function useFiles(session: string, dropped: Props["dropped"]): readonly Upload[] {
  const list = useSyncExternalStore(uploads.subscribe, () => uploads.of(session));
  // biome-ignore lint/correctness/useExhaustiveDependencies: files are added once, when they are dropped
  useEffect(() => {
    if (dropped) uploads.add(session, dropped.files);
  }, [dropped]);
  return list;
}

/** Text copied from an Office program comes with a picture of itself, which nobody wants. */
function pastedFiles(data: DataTransfer): File[] {
  const rich = data.types.includes("text/html") || data.types.includes("text/rtf");
  return rich && data.getData("text/plain").trim() ? [] : [...data.files];
}

function useAutoHeight(area: React.RefObject<HTMLTextAreaElement | null>, text: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text decides the height
  useLayoutEffect(() => {
    const element = area.current;
    if (!element || HAS_FIELD_SIZING) return;
    element.style.height = "auto";
    element.style.height = `${element.scrollHeight}px`;
  }, [area, text]);
}
