import "./model-picker.css";
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from "react";
import { type ModelChoice, referredName } from "../../../../core/model-choice";
import { messageIn } from "../../../../core/server-message";
import { modelMemory, useModelMemory } from "../../../agents/model-memory";
import { findModel, type ModelEndpoint, type ModelParameter, useModels } from "../../../agents/models";
import { useText } from "../../../i18n/language";
import { pickerText } from "../../../i18n/strings/model-picker";
import { Translated } from "../../../i18n/translate";
import { Button, IconButton } from "../../../ui/button";
import { Modal } from "../../../ui/dialog";
import { ErrorNotice, Notice } from "../../../ui/feedback";
import { useComposition } from "../../../ui/field";
import { Icon } from "../../../ui/icon";
import { ModelSettings } from "./model-settings";

const STATE_MS = 5_000;

interface Props {
  choice: ModelChoice;
  ownName: string;
  ownParameters: ModelParameter[];
  onChoose: (choice: ModelChoice) => void;
  onClose: () => void;
}

interface Option {
  key: string;
  /** Null is the agent's own model. */
  model: string | null;
  name: string;
  endpoint: string;
}

interface Group {
  key: string;
  title: string;
  options: Option[];
  endpoint?: ModelEndpoint;
}

/** Every model of every endpoint, with search, favourites and the settings of the chosen one. */
export default function ModelPicker({ choice, ownName, ownParameters, onChoose, onClose }: Props) {
  const t = useText(pickerText);
  const id = useId();
  const { data, error, refetch } = useModels({ refetchInterval: STATE_MS });
  const [query, setQuery] = useState("");
  const groups = useGroups(data?.endpoints ?? [], query, ownName);
  const options = groups.flatMap((group) => group.options);
  const { at, setAt, list, keys } = useActive(options, choice.model, query);
  const active = options[at];
  const { favourites } = useModelMemory();
  const parametersOf = (model: string | null) =>
    model === null ? ownParameters : (findModel(data?.endpoints ?? [], model).model?.parameters ?? []);
  const choose = (option: Option | undefined) => {
    if (!option) return;
    onChoose({ model: option.model, parameters: taken(choice.parameters, parametersOf(option.model)) });
    onClose();
  };
  const onEnter = (event: KeyboardEvent) => {
    event.preventDefault(); // the focus returns to the button, which the same key would press
    choose(active);
  };
  const composition = useComposition<HTMLInputElement>({ onEnter }, keys);
  const gone = data && choice.model && !findModel(data.endpoints, choice.model).model;
  const chosenName = choice.model ? referredName(choice.model) : ownName || t.own("");
  let index = -1;
  return (
    <Modal className="palette model-picker" label={t.title} onClose={onClose}>
      <div className="model-search">
        <input
          className="palette-input"
          data-autofocus
          role="combobox"
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={active ? `${id}-${at}` : undefined}
          aria-label={t.search}
          placeholder={t.search}
          autoComplete="off"
          value={query}
          onChange={(event) => setQuery(event.target.value)}
          {...composition}
        />
        <IconButton icon="close" label={t.close} onClick={onClose} />
      </div>
      {gone && !findModel(data.endpoints, choice.model ?? "").endpoint?.error && (
        <Notice kind="warn">{t.missing(chosenName)}</Notice>
      )}
      <div
        ref={list}
        className="palette-list model-list"
        role="listbox"
        id={`${id}-list`}
        aria-label={t.title}
      >
        {groups.map((group) => (
          <div key={group.key} role="group" aria-label={group.title}>
            <div className="menu-label" aria-hidden="true">
              {group.title}
            </div>
            {group.options.map((option) => {
              index += 1;
              const here = index;
              return (
                <Row
                  key={option.key}
                  id={`${id}-${here}`}
                  option={option}
                  active={here === at}
                  chosen={option.model === choice.model}
                  favourite={option.model !== null && favourites.includes(option.model)}
                  onActive={() => setAt(here)}
                  onChoose={() => choose(option)}
                />
              );
            })}
          </div>
        ))}
      </div>
      <div className="model-notes">
        {error && <ErrorNotice error={error} retry={() => refetch()} />}
        {!data && !error && <p className="muted small">{t.loading}</p>}
        {data && !options.length && <p className="muted small">{t.none}</p>}
        {!query &&
          data?.endpoints.map(
            (endpoint) =>
              endpoint.error && (
                <p key={endpoint.id} className="model-error small">
                  <Icon name="warn" size={14} /> <strong>{endpoint.name}</strong>:{" "}
                  <Translated message={messageIn(endpoint, "error")} />
                </p>
              ),
          )}
      </div>
      <span className="hidden-text" role="status">
        {data ? t.found(options.length) : ""}
      </span>
      <ModelSettings
        name={chosenName}
        known={parametersOf(choice.model)}
        parameters={choice.parameters}
        onChange={(parameters) => onChoose({ ...choice, parameters })}
      />
      <div className="palette-foot model-foot">
        <span className="grow">{t.hint}</span>
        {active?.model && (
          <Button
            small
            kind="quiet"
            onClick={() => active.model && modelMemory.toggleFavourite(active.model)}
          >
            {favourites.includes(active.model) ? t.removeFavourite(active.name) : t.addFavourite(active.name)}
          </Button>
        )}
      </div>
    </Modal>
  );
}

interface RowProps {
  id: string;
  option: Option;
  active: boolean;
  chosen: boolean;
  favourite: boolean;
  onActive: () => void;
  onChoose: () => void;
}

function Row({ id, option, active, chosen, favourite, onActive, onChoose }: RowProps) {
  const t = useText(pickerText);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the focus and the keys
    <div
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={active}
      className="palette-item model-option"
      onPointerMove={onActive}
      onClick={onChoose}
    >
      <span className="model-check">{chosen && <Icon name="check" size={16} />}</span>
      <span className="ellipsis">{option.name}</span>
      <span className="grow" />
      {favourite && <span className="hidden-text">{t.favourite}</span>}
      {option.model && (
        <span
          className={`model-star ${favourite ? "on" : ""}`}
          aria-hidden="true"
          onClick={(event) => {
            event.stopPropagation();
            if (option.model) modelMemory.toggleFavourite(option.model);
          }}
        >
          <svg width="16" height="16" viewBox="0 0 24 24" aria-hidden="true">
            <path d="M12 3.8l2.6 5.3 5.8.8-4.2 4.1 1 5.8-5.2-2.7-5.2 2.7 1-5.8-4.2-4.1 5.8-.8z" />
          </svg>
        </span>
      )}
    </div>
  );
}

/** The groups that match: without a search also the agent's own model, favourites and recently used ones. */
function useGroups(endpoints: readonly ModelEndpoint[], query: string, ownName: string): Group[] {
  const t = useText(pickerText);
  const { favourites, recent } = useModelMemory();
  return useMemo(() => {
    const needle = fold(query.trim());
    const all = endpoints.map<Group>((endpoint) => ({
      key: endpoint.id,
      title: endpoint.name,
      endpoint,
      options: endpoint.models
        .map((model) => ({ key: model.id, model: model.id, name: model.name, endpoint: endpoint.name }))
        .filter((one) => fold(`${one.endpoint} ${one.name}`).includes(needle)),
    }));
    const known = new Map(all.flatMap((group) => group.options.map((one) => [one.model, one] as const)));
    const listed = (key: string, title: string, models: readonly string[]): Group => ({
      key,
      title,
      options: models.flatMap((model) => {
        const one = known.get(model);
        return one ? [{ ...one, key: `${key} ${one.key}` }] : [];
      }),
    });
    const own = { key: "own", model: null, name: t.own(ownName), endpoint: "" };
    const first = needle
      ? []
      : [
          { key: "own", title: t.agent, options: [own] },
          listed("favourites", t.favourites, favourites),
          listed(
            "recent",
            t.recent,
            recent.filter((one) => !favourites.includes(one)),
          ),
        ];
    return [...first, ...all].filter((group) => group.options.length);
  }, [endpoints, query, ownName, favourites, recent, t]);
}

/** The option that Enter chooses: at first the chosen model, after a search the first match. */
function useActive(options: readonly Option[], chosen: string | null, query: string) {
  const list = useRef<HTMLDivElement>(null);
  const [moved, setMoved] = useState<{ query: string; at: number } | null>(null);
  const initial = query
    ? 0
    : Math.max(
        0,
        options.findLastIndex((one) => one.model === chosen),
      );
  const at = moved?.query === query ? Math.min(moved.at, options.length - 1) : initial;
  const setAt = (index: number) => setMoved({ query, at: index });
  const keys = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !options.length) return;
    event.preventDefault();
    setAt((at + step + options.length) % options.length);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls to the active option
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [at, options.length]);
  return { at, setAt, list, keys };
}

/** The parameters that a model takes; the others are forgotten with the model before. */
function taken(parameters: ModelChoice["parameters"], known: readonly ModelParameter[]) {
  const fits = (name: string, value: unknown) =>
    known.some(
      (one) =>
        one.name === name &&
        (one.values.length ? one.values.includes(String(value)) : Number(value) <= (one.maximum ?? Infinity)),
    );
  return Object.fromEntries(Object.entries(parameters).filter(([name, value]) => fits(name, value)));
}

/** Ignores width and case, as the server's search does. */
function fold(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}
