import "./prompts.css";
import { type ChangeEvent, useEffect, useRef, useState } from "react";
import { NEW } from "../../../core/conversation";
import { matching } from "../../../core/trigger";
import { useMe } from "../../account/account";
import { apiUrl } from "../../api";
import { drafts } from "../../drafts";
import { useText } from "../../i18n/language";
import { chatText } from "../../i18n/strings/chat";
import { promptsText } from "../../i18n/strings/prompts";
import { shellText } from "../../i18n/strings/shell";
import { ErrorText } from "../../i18n/translate";
import { go, hrefTo } from "../../route";
import { Button, IconButton } from "../../ui/button";
import { Empty, ErrorNotice, Page, Skeletons } from "../../ui/feedback";
import { SearchField } from "../../ui/field";
import { Menu, MenuItem } from "../../ui/menu";
import { useToast } from "../../ui/toast";
import { undoQueue } from "../../ui/undo-queue";
import PromptDialog from "../chat/composer/prompt-dialog";
import { PromptEditor } from "./editor";
import { asSuggestion, library, type SavedPrompt, useSavedPrompts } from "./saved-prompts";

type Open = { kind: "edit" | "use"; prompt: SavedPrompt } | { kind: "new" } | null;

/** The user's own prompts, and those that are shared with everybody. */
export default function PromptsPage() {
  const t = useText(promptsText);
  const shell = useText(shellText);
  const chat = useText(chatText);
  const { data, error, refetch } = useSavedPrompts();
  const [query, setQuery] = useState("");
  const [open, setOpen] = useState<Open>(null);
  const { removed, remove } = useRemoval();
  const shown = data?.filter((one) => !removed.has(one.prompt_id));
  const found = shown && filtered(shown, query.trim());
  useEffect(() => {
    document.title = `${shell.prompts} · Chie`;
  }, [shell]);
  const use = (prompt: SavedPrompt) => {
    const suggestion = asSuggestion(prompt, chat);
    if (suggestion.arguments.length) setOpen({ kind: "use", prompt });
    else insert(suggestion.fill?.({}) ?? "");
  };
  return (
    <Page title={shell.prompts} lead={t.lead} actions={<Actions onNew={() => setOpen({ kind: "new" })} />}>
      <div className="stack">
        {error && !data && <ErrorNotice error={error} retry={() => void refetch()} />}
        {!data && !error && <Skeletons lines={5} />}
        {shown && shown.length > 0 && (
          <SearchField
            label={t.search}
            value={query}
            onChange={(event) => setQuery(event.target.value)}
            onEscape={() => setQuery("")}
          />
        )}
        {shown?.length === 0 && (
          <Empty icon="spark" title={t.none}>
            {t.noneLead}
          </Empty>
        )}
        {shown && shown.length > 0 && found?.length === 0 && <p role="status">{t.nothingFound}</p>}
        <ul className="pr-list" aria-label={shell.prompts}>
          {found?.map((prompt) => (
            <Row
              key={prompt.prompt_id}
              prompt={prompt}
              onUse={() => use(prompt)}
              onEdit={() => setOpen({ kind: "edit", prompt })}
              onRemove={() => remove(prompt)}
            />
          ))}
        </ul>
      </div>
      {open?.kind === "new" && (
        <PromptEditor
          title={t.create}
          prompt={{ name: "", text: "", shared: false }}
          onClose={() => setOpen(null)}
        />
      )}
      {open?.kind === "edit" && (
        <PromptEditor
          title={t.edit}
          id={open.prompt.prompt_id}
          prompt={{ name: open.prompt.name, text: open.prompt.text, shared: open.prompt.shared }}
          onClose={() => setOpen(null)}
        />
      )}
      {open?.kind === "use" && (
        <PromptDialog
          prompt={asSuggestion(open.prompt, chat)}
          onFill={async (values) => insert(asSuggestion(open.prompt, chat).fill?.(values) ?? "")}
          onClose={() => setOpen(null)}
        />
      )}
    </Page>
  );
}

/** Into the field of a new conversation, for editing. */
function insert(text: string): void {
  drafts.type(NEW, text);
  go(hrefTo("chat"));
}

function filtered(prompts: SavedPrompt[], query: string): SavedPrompt[] {
  const items = prompts.map((one) => ({
    ...one,
    title: one.name,
    server: one.user_id,
    description: one.text,
  }));
  return query ? matching(items, query, items.length) : prompts;
}

function Row({
  prompt,
  onUse,
  onEdit,
  onRemove,
}: {
  prompt: SavedPrompt;
  onUse: () => void;
  onEdit: () => void;
  onRemove: () => void;
}) {
  const t = useText(promptsText);
  const me = useMe();
  const own = !me || me.id === prompt.user_id;
  return (
    <li className="pr-row">
      <div className="pr-text">
        <div className="pr-head">
          <strong>{prompt.name}</strong>
          {prompt.shared && <span className="pr-mark">{own ? t.sharedOwn : t.sharedBy(prompt.user_id)}</span>}
        </div>
        <div className="pr-excerpt">{prompt.text}</div>
      </div>
      <Button small kind="primary" aria-label={t.useNamed(prompt.name)} onClick={onUse}>
        {t.use}
      </Button>
      {(own || me?.admin) && (
        <>
          <IconButton small icon="edit" label={t.editNamed(prompt.name)} onClick={onEdit} />
          <IconButton small icon="trash" label={t.removeNamed(prompt.name)} onClick={onRemove} />
        </>
      )}
    </li>
  );
}

function useRemoval() {
  const t = useText(promptsText);
  const toast = useToast();
  const [removed, setRemoved] = useState<ReadonlySet<string>>(new Set());
  const mark = (id: string, gone: boolean) =>
    setRemoved((all) => new Set(gone ? [...all, id] : [...all].filter((one) => one !== id)));
  const remove = (prompt: SavedPrompt) => {
    const id = prompt.prompt_id;
    mark(id, true);
    undoQueue.add(id, () => {
      library.remove(id).catch(() => {
        mark(id, false);
        toast(t.removeFailed(prompt.name));
      });
    });
    toast(t.removed(prompt.name), { undo: () => undoQueue.cancel(id) && mark(id, false) });
  };
  return { removed, remove };
}

function Actions({ onNew }: { onNew: () => void }) {
  const t = useText(promptsText);
  const toast = useToast();
  const picker = useRef<HTMLInputElement>(null);
  const take = async (event: ChangeEvent<HTMLInputElement>) => {
    const [file] = event.target.files ?? [];
    event.target.value = "";
    if (!file) return;
    let content: unknown;
    try {
      content = JSON.parse(await file.text());
    } catch {
      toast(t.notAFile);
      return;
    }
    library.importAll(content).then(
      ({ imported, existing }) => toast(t.imported(imported, existing)),
      (error: unknown) => toast(<ErrorText error={error} />),
    );
  };
  return (
    <>
      <Button kind="primary" icon="plus" onClick={onNew}>
        {t.create}
      </Button>
      <Menu align="end" trigger={<IconButton icon="more" label={t.more} />}>
        <MenuItem icon="upload" onSelect={() => picker.current?.click()}>
          {t.importFile}
        </MenuItem>
        <MenuItem icon="download" onSelect={() => window.open(apiUrl("/api/prompts/export"), "_self")}>
          {t.exportFile}
        </MenuItem>
      </Menu>
      <input
        ref={picker}
        type="file"
        accept=".json,application/json"
        hidden
        onChange={(event) => void take(event)}
      />
    </>
  );
}
