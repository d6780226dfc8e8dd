import { useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, type ReactNode, type RefObject, Suspense, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { type Trigger, triggerAt } from "../../../../core/trigger";
import { agentsQuery } from "../../../agents/agents";
import { api } from "../../../api";
import { useText } from "../../../i18n/language";
import { chatText } from "../../../i18n/strings/chat";
import { ErrorText } from "../../../i18n/translate";
import { ErrorBoundary } from "../../../ui/error-boundary";
import { lazyPage } from "../../../ui/lazy";
import { LazyDialog } from "../../../ui/lazy-dialog";
import { useToast } from "../../../ui/toast";
import { uploads } from "../attachments/uploads";
import type { Prompt, Resource } from "./suggestions";

const Suggestions = lazyPage(() => import("./suggestions"));
const PromptDialog = lazyPage(() => import("./prompt-dialog"));

const LIST_ID = "suggestions";

export interface Keys {
  move: (by: 1 | -1) => void;
  choose: () => void;
}

interface Props {
  area: RefObject<HTMLTextAreaElement | null>;
  session: string;
  agentId: string | null;
  text: string;
  setText: (text: string) => void;
}

/** Saved prompts, and prompts and resources of MCP servers, while `/` or `@` is typed. Their list is loaded with the first sign. */
export function useSuggestions({ area, session, agentId, text, setText }: Props) {
  const t = useText(chatText);
  const toast = useToast();
  const { data } = useQuery(agentsQuery);
  const [trigger, setTrigger] = useState<Trigger | null>(null);
  const [closed, setClosed] = useState<string | null>(null);
  const [active, setActive] = useState<string | null>(null);
  const [asked, setAsked] = useState<{ prompt: Prompt; typed: string } | null>(null);
  const keys = useRef<Keys | null>(null);
  const agent = data?.agents.find((one) => one.agent_id === agentId);
  const position = trigger && `${trigger.kind} ${trigger.start}`;
  const typed = trigger ? text.slice(trigger.start, trigger.start + 1 + trigger.query.length) : "";
  const current = trigger !== null && typed.slice(1) === trigger.query; // not after the text was sent
  const open = current && position !== closed && (trigger.kind === "prompts" || agent?.supports_mcp);

  const follow = () => {
    const field = area.current;
    if (!field) return;
    const caret = field.selectionStart === field.selectionEnd ? field.selectionStart : -1;
    const found = caret < 0 ? null : triggerAt(field.value, caret);
    setTrigger((now) => (same(now, found) ? now : found));
    if (!found) setClosed(null);
  };
  /** Puts text in the place of what was typed from the sign to the caret. */
  const insert = (start: number, replaced: string, inserted: string) => {
    const field = area.current;
    if (!field) return;
    const rest = field.value.slice(start);
    const after = rest.startsWith(replaced) ? rest.slice(replaced.length) : rest;
    // At once: in a later frame the caret would jump back behind what has been typed since.
    flushSync(() => {
      setText(field.value.slice(0, start) + inserted + after);
      setTrigger(null);
    });
    field.focus();
    field.setSelectionRange(start + inserted.length, start + inserted.length);
  };
  const attach = (resource: Resource) => {
    if (!trigger) return;
    insert(trigger.start, typed, "");
    uploads.add(session, [{ name: resource.title, server: resource.server, uri: resource.uri }]);
  };
  const fill = async (prompt: Prompt, replaced: string, values: Record<string, string>) => {
    if (prompt.fill) {
      setAsked(null);
      insert(0, replaced, prompt.fill(values));
      return;
    }
    const path = `/api/mcp/servers/${encodeURIComponent(prompt.server)}/prompt`;
    const body = { prompt: prompt.name, arguments: values };
    const filled = await api.post<{ text: string }>(path, body);
    setAsked(null);
    insert(0, replaced, filled.text);
  };
  const use = (prompt: Prompt) => {
    setClosed(position);
    if (prompt.arguments.length) setAsked({ prompt, typed });
    else
      fill(prompt, typed, {}).catch((error: unknown) =>
        toast(
          <>
            {t.promptFailed(prompt.title)} <ErrorText error={error} />
          </>,
        ),
      );
  };
  /** Whether the list has handled the key. */
  const takes = (event: KeyboardEvent): boolean => {
    const { key, shiftKey, ctrlKey, metaKey, altKey } = event;
    if (!open || !keys.current || shiftKey || ctrlKey || metaKey || altKey) return false;
    if (key === "Escape") setClosed(position);
    else if (key === "ArrowDown" || key === "ArrowUp") keys.current.move(key === "ArrowDown" ? 1 : -1);
    else keys.current.choose();
    event.preventDefault();
    return true;
  };
  const list: ReactNode = open && (
    <ErrorBoundary fallback={null}>
      <Suspense fallback={null}>
        <Suggestions
          listId={LIST_ID}
          kind={trigger.kind}
          query={trigger.query}
          agentId={agent?.agent_id ?? ""}
          hasServers={agent?.supports_mcp ?? false}
          keys={keys}
          onActive={setActive}
          onResource={attach}
          onPrompt={use}
        />
      </Suspense>
    </ErrorBoundary>
  );
  const dialog: ReactNode = asked && (
    <LazyDialog label={asked.prompt.title} onClose={() => setAsked(null)}>
      <PromptDialog
        prompt={asked.prompt}
        onFill={(values) => fill(asked.prompt, asked.typed, values)}
        onClose={() => setAsked(null)}
      />
    </LazyDialog>
  );
  const shown = open && active !== null;
  const field = {
    onSelect: follow,
    onBlur: () => setTrigger(null),
    ...(shown && {
      "aria-autocomplete": "list" as const,
      "aria-controls": LIST_ID,
      "aria-activedescendant": active,
    }),
  };
  return { list, dialog, field, follow, takes };
}

function same(one: Trigger | null, other: Trigger | null): boolean {
  return one?.kind === other?.kind && one?.start === other?.start && one?.query === other?.query;
}
