import "./suggestions.css";
import { useQuery } from "@tanstack/react-query";
import { type RefObject, useEffect, useId, useRef, useState } from "react";
import { matching, type Suggested } from "../../../../core/trigger";
import { api } from "../../../api";
import { useText } from "../../../i18n/language";
import { chatText } from "../../../i18n/strings/chat";
import { Icon } from "../../../ui/icon";
import { asSuggestion, useSavedPrompts } from "../../prompts/saved-prompts";
import type { Keys } from "./use-suggestions";

interface Argument {
  name: string;
  title: string;
  description: string;
  required: boolean;
  /** Of a saved prompt. */
  preset?: string;
  choices?: readonly string[];
}

export interface Prompt extends Suggested {
  name: string;
  arguments: Argument[];
  /** The text of a saved prompt; a server fills in its own prompts. */
  fill?: (values: Record<string, string>) => string;
}

export interface Resource extends Suggested {
  uri: string;
}

interface Props {
  /** The id of the list, which the field names. */
  listId: string;
  kind: "prompts" | "resources";
  query: string;
  agentId: string;
  /** Whether the agent has MCP servers. */
  hasServers: boolean;
  keys: RefObject<Keys | null>;
  onActive: (id: string | null) => void;
  onResource: (resource: Resource) => void;
  onPrompt: (prompt: Prompt) => void;
}

const FRESH_MS = 30_000;

/** Shows nothing until something matches. The field keeps the focus; `keys` are for its arrow keys and Enter. */
export default function Suggestions({
  listId,
  kind,
  query,
  agentId,
  hasServers,
  keys,
  onActive,
  onResource,
  onPrompt,
}: Props) {
  const t = useText(chatText);
  const saved = useSavedPrompts({ enabled: kind === "prompts" }).data;
  const { data } = useQuery({
    queryKey: ["mcp", kind, agentId],
    queryFn: ({ signal }) => api.get<Content>(`/api/mcp/${kind}`, { query: { agent_id: agentId }, signal }),
    staleTime: FRESH_MS,
    retry: false,
    enabled: hasServers,
  });
  const library = kind === "prompts" && saved ? saved.map((one) => asSuggestion(one, t)) : [];
  const prompts = matching([...library, ...(data?.prompts ?? [])], query);
  const resources = matching(data?.resources ?? [], query);
  const options = [
    ...prompts.map((one) => ({
      ...one,
      key: `${one.server} ${one.name} ${one.title}`,
      choose: () => onPrompt(one),
    })),
    ...resources.map((one) => ({ ...one, key: `${one.server} ${one.uri}`, choose: () => onResource(one) })),
  ];
  const { at, setAt, list, id } = useActive(options, query, keys, onActive);
  if (!options.length) return null;
  return (
    <>
      <div
        ref={list}
        id={listId}
        className="suggestions"
        role="listbox"
        aria-label={kind === "prompts" ? t.promptsOf : t.resourcesOf}
      >
        {options.map((one, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
          <div
            key={one.key}
            id={id(index)}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            onPointerMove={() => setAt(index)}
            onMouseDown={(event) => event.preventDefault()}
            onClick={one.choose}
          >
            <Icon name={kind === "prompts" ? "spark" : "file"} size={16} />
            <span className="suggestion-text">
              <span className="suggestion-title">{one.title}</span>
              {one.description && one.description !== one.title && (
                <span className="suggestion-note">{one.description}</span>
              )}
            </span>
            <span className="suggestion-server">{one.server}</span>
          </div>
        ))}
      </div>
      <span className="hidden-text" role="status">
        {t.suggestions(options.length)}
      </span>
    </>
  );
}

interface Content {
  prompts?: Prompt[];
  resources?: Resource[];
}

/** The option that Enter chooses; the first again after every key that is typed. */
function useActive(
  options: readonly { choose: () => void }[],
  query: string,
  keys: Props["keys"],
  onActive: Props["onActive"],
) {
  const prefix = useId();
  const list = useRef<HTMLDivElement>(null);
  const [chosen, setChosen] = useState({ query, at: 0 });
  const at = chosen.query === query ? Math.min(chosen.at, options.length - 1) : 0;
  const setAt = (index: number) => setChosen({ query, at: index });
  const id = (index: number) => `${prefix}${index}`;
  const active = options.length ? id(at) : null;
  useEffect(() => {
    onActive(active);
    list.current?.children[at]?.scrollIntoView({ block: "nearest" });
  }, [onActive, active, at]);
  useEffect(() => {
    keys.current = options.length
      ? {
          move: (by) => setChosen({ query, at: (at + by + options.length) % options.length }),
          choose: () => options[at]?.choose(),
        }
      : null;
    return () => {
      keys.current = null;
    };
  }, [keys, options, query, at]);
  useEffect(() => () => onActive(null), [onActive]);
  return { at, setAt, list, id };
}
