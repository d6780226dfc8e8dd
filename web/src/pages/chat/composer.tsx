import { type ChangeEvent, useEffect, useLayoutEffect, useRef, useSyncExternalStore } from "react";
import { useDraft } from "../../drafts";
import { chatText } from "../../i18n/chat";
import { useText } from "../../i18n/language";
import { useStoredSetting } from "../../stored-setting";
import { IconButton } from "../../ui/button";
import { useComposition } from "../../ui/field";
import { Icon } from "../../ui/icon";
import { Menu, MenuChoice, MenuItem, MenuLabel, MenuSeparator } from "../../ui/menu";
import { useToast } from "../../ui/toast";
import { AgentMenu } from "./agent-menu";
import { allowedTools, useAllowedTools } from "./allowed-tools";
import { attachments, readTextFile, type TextFile, withFiles } from "./attachments";
import { IS_MAC, sendKey, sends } from "./send-key";

const FIELD = "message";
const MAX_MESSAGE = 200_000;
const HAS_FIELD_SIZING = CSS.supports("field-sizing", "content");

interface Props {
  session: string;
  agentId: string | null;
  onAgent: (id: string) => void;
  live: string | null;
  disabled: boolean;
  onSend: (text: string) => void;
  onStop: () => void;
  dropped: { files: File[]; key: number } | null;
}

/** Not on touch devices, where the on-screen keyboard would cover half of the page. */
export function focusField(): void {
  if (matchMedia("(pointer: fine)").matches) document.getElementById(FIELD)?.focus();
}

/** Holds the typed text itself, so that a key press renders nothing else. */
export function Composer({ session, agentId, onAgent, live, disabled, onSend, onStop, dropped }: Props) {
  const t = useText(chatText);
  const [text, setText] = useDraft(session);
  const { files, add, remove, clear } = useFiles(session, dropped);
  const chosen = useStoredSetting(sendKey);
  const area = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const whole = withFiles(text, files);
  const over = whole.length - MAX_MESSAGE;
  const ready = Boolean(whole.trim()) && over <= 0 && !live && !disabled;
  const submit = () => {
    if (!ready) return;
    onSend(whole);
    setText("");
    clear();
  };
  const composition = useComposition<HTMLTextAreaElement>({
    onEnter: (event) => {
      if (!sends(event, chosen)) return;
      event.preventDefault();
      submit();
    },
    onEscape: () => live && onStop(),
  });
  useAutoHeight(area, text);
  // biome-ignore lint/correctness/useExhaustiveDependencies: focus moves with the session
  useEffect(focusField, [session]);
  const hint = chosen === "enter" ? t.hintEnter : IS_MAC ? t.hintCmd : t.hintCtrl;
  return (
    <form
      className="composer"
      aria-label={t.messageField}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <div className="composer-box">
        <FileList files={files} onRemove={remove} />
        <textarea
          ref={area}
          id={FIELD}
          rows={1}
          aria-label={t.messageField}
          placeholder={t.placeholder}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onPaste={(event) => event.clipboardData.files.length && add([...event.clipboardData.files])}
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
              add([...(event.target.files ?? [])]);
              event.target.value = "";
            }}
          />
          <AgentMenu chosen={agentId} onChoose={onAgent} />
          <span className="grow" />
          <SendMenu />
          {live ? (
            <IconButton className="send" kind="plain" icon="stop" label={t.stop} onClick={onStop} />
          ) : (
            <IconButton
              className="send"
              type="submit"
              kind="primary"
              icon="send"
              label={t.send}
              disabled={!ready}
            />
          )}
        </div>
      </div>
      {over > 0 ? (
        <p className="field-error" role="alert">
          {t.tooLong(over)}
        </p>
      ) : (
        <p className="composer-hint">{hint}</p>
      )}
    </form>
  );
}

function useFiles(session: string, dropped: Props["dropped"]) {
  const t = useText(chatText);
  const toast = useToast();
  const files = useSyncExternalStore(attachments.subscribe, () => attachments.of(session));
  const add = async (chosen: File[]) => {
    for (const file of chosen) {
      const read = await readTextFile(file);
      if (read === "too-big") toast(t.fileTooBig(file.name));
      else if (read === "not-text") toast(t.fileNotText(file.name));
      else attachments.set(session, [...attachments.of(session), read]);
    }
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: files are added once, when they are dropped
  useEffect(() => {
    if (dropped) void add(dropped.files);
  }, [dropped]);
  const remove = (file: TextFile) =>
    attachments.set(
      session,
      files.filter((one) => one !== file),
    );
  const clear = () => attachments.set(session, []);
  return { files, add: (chosen: File[]) => void add(chosen), remove, clear };
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

function FileList({ files, onRemove }: { files: readonly TextFile[]; onRemove: (file: TextFile) => void }) {
  const t = useText(chatText);
  if (!files.length) return null;
  return (
    <div className="files">
      {files.map((file) => (
        <span key={`${file.name} ${file.text.length}`} className="file">
          <Icon name="file" size={15} />
          {file.name}
          <IconButton small icon="close" label={t.removeFile(file.name)} onClick={() => onRemove(file)} />
        </span>
      ))}
    </div>
  );
}

function SendMenu() {
  const t = useText(chatText);
  const chosen = useStoredSetting(sendKey);
  const allowed = useAllowedTools();
  return (
    <Menu align="end" trigger={<IconButton icon="more" label={t.sendOptions} />}>
      <MenuLabel>{t.sendOptions}</MenuLabel>
      <MenuChoice checked={chosen === "enter"} onSelect={() => sendKey.set("enter")}>
        {t.enterSends}
      </MenuChoice>
      <MenuChoice checked={chosen === "ctrl-enter"} onSelect={() => sendKey.set("ctrl-enter")}>
        {IS_MAC ? t.cmdEnterSends : t.ctrlEnterSends}
      </MenuChoice>
      {allowed.length > 0 && (
        <>
          <MenuSeparator />
          <MenuLabel>{t.rememberedTools}</MenuLabel>
          <MenuItem icon="shield" note={allowed.join(", ")} onSelect={() => allowedTools.clear()}>
            {t.forgetTools}
          </MenuItem>
        </>
      )}
    </Menu>
  );
}
