import { useEffect, useRef, useState } from "react";
import { messageIn, messagesIn } from "../../../core/server-message";
import { useText } from "../../i18n/language";
import { workflowsText } from "../../i18n/strings/workflows";
import { Translated } from "../../i18n/translate";
import { Button } from "../../ui/button";
import { Dialog, DialogFoot } from "../../ui/dialog";
import { ErrorNotice, Notice } from "../../ui/feedback";
import { Field, TextArea } from "../../ui/field";
import { useToast } from "../../ui/toast";
import { languageOf } from "../knowledge/notes";
import { Done } from "./status";
import { type Execution, type GraphNode, type Operation, type Rehearsed, rehearse, save } from "./workflows";

/** Tries other parameters of one node, or pasted operations, on the data of an execution, and saves what works. */
export function TryFix({
  workflow,
  nodes,
  execution,
  onClose,
}: {
  workflow: string;
  nodes: GraphNode[];
  execution: Execution;
  onClose: () => void;
}) {
  const t = useText(workflowsText);
  const toast = useToast();
  const [chosen, setChosen] = useState(() => firstNode(nodes, execution));
  const [text, setText] = useState(() => parametersOf(nodes, chosen));
  const [allowed, setAllowed] = useState<string[]>([]);
  const [busy, setBusy] = useState<"trying" | "saving" | null>(null);
  const [result, setResult] = useState<Rehearsed | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const status = useRef<HTMLDivElement>(null);
  const patch = patchOf(chosen, text);
  const works = result?.outcome === "fixed" || result?.outcome === "different";
  const missing = Object.keys(result?.would_run_for_real ?? {}).filter((name) => !allowed.includes(name));

  useEffect(() => {
    if (result || failure) status.current?.scrollIntoView({ block: "nearest" });
  }, [result, failure]);

  function choose(name: string) {
    setChosen(name);
    edit(parametersOf(nodes, name));
  }

  function edit(value: string) {
    setText(value);
    setResult(null);
    setFailure(null);
    setAllowed([]); // a permission is for the change that was shown
  }

  async function run() {
    if (!patch) return;
    setBusy("trying");
    setFailure(null);
    try {
      setResult(await rehearse(workflow, { patch, execution: execution.id, run_for_real: allowed }));
    } catch (caught) {
      setResult(null);
      setFailure(caught);
    } finally {
      setBusy(null);
    }
  }

  async function keep() {
    if (!patch || !result) return;
    setBusy("saving");
    setFailure(null);
    try {
      const done = await save(workflow, { patch, version_id: result.version_id });
      onClose();
      toast(<Done text={t.saved} changed={done} />);
    } catch (caught) {
      setFailure(caught);
      setBusy(null);
    }
  }

  return (
    <Dialog title={t.tryTitle} wide onClose={onClose}>
      <div className="stack wf-dialog">
        <p className="muted">{t.tryLead(execution.id)}</p>
        <Field label={t.tryNode}>
          {(control) => (
            <select
              className="input"
              {...control}
              value={chosen}
              onChange={(event) => choose(event.target.value)}
            >
              {nodes.map((node) => (
                <option key={node.name} lang={languageOf(node.name)}>
                  {node.name}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label={t.tryParameters} note={t.tryNote} error={patch ? null : t.tryInvalid}>
          {(control) => (
            <TextArea
              {...control}
              className="wf-parameters"
              rows={10}
              spellCheck={false}
              value={text}
              onChange={(event) => edit(event.target.value)}
            />
          )}
        </Field>
        <div ref={status} className="stack">
          <div role="status" className="stack">
            {busy === "trying" && <p className="muted">{t.trying}</p>}
            {result && busy !== "trying" && <Outcome result={result} allowed={allowed} allow={setAllowed} />}
            {works && busy !== "trying" && <p className="muted small">{t.saveLead}</p>}
          </div>
          {failure !== null && <ErrorNotice error={failure} />}
        </div>
      </div>
      <DialogFoot>
        <Button onClick={onClose}>{t.close}</Button>
        <Button
          kind={works ? "plain" : "primary"}
          disabled={busy !== null || !patch || missing.length > 0}
          onClick={run}
        >
          {busy === "trying" ? t.trying : t.tryFix}
        </Button>
        {works && (
          <Button kind="primary" disabled={busy !== null} onClick={keep}>
            {busy === "saving" ? t.saving : t.saveFix}
          </Button>
        )}
      </DialogFoot>
    </Dialog>
  );
}

const KINDS = { fixed: "good", same: "good", different: "warn", not_proven: "warn" } as const;

function Outcome({
  result,
  allowed,
  allow,
}: {
  result: Rehearsed;
  allowed: string[];
  allow: (names: string[]) => void;
}) {
  const t = useText(workflowsText);
  const asked = Object.entries(result.would_run_for_real);
  if (asked.length > 0)
    return (
      <Notice kind="warn">
        <strong>{t.outcome_needs_permission}</strong>
        <p>{t.tryAllow}</p>
        {asked.map(([name, type]) => (
          <label key={name} className="wf-allow">
            <input
              type="checkbox"
              checked={allowed.includes(name)}
              onChange={(event) =>
                allow(event.target.checked ? [...allowed, name] : allowed.filter((one) => one !== name))
              }
            />
            <span>
              <b lang={languageOf(name)}>{name}</b> <span className="muted">{type}</span>
            </span>
          </label>
        ))}
      </Notice>
    );
  const kind = result.outcome in KINDS ? KINDS[result.outcome as keyof typeof KINDS] : "bad";
  return (
    <>
      <Notice kind={kind}>
        <strong>{t[`outcome_${result.outcome}`]}</strong>
        <p>
          <Translated message={messageIn(result, "summary")} />
        </p>
        {messagesIn(result, "notes").map(([key, note]) => (
          <p key={key} className="small">
            <Translated message={note} />
          </p>
        ))}
      </Notice>
      {result.differences.length > 0 && (
        <ul className="wf-differences">
          {result.differences.map(({ node, at, before, after }) => (
            <li key={node} className="tilde">
              <b lang={languageOf(node)}>{node}</b>{" "}
              {at ? (
                <>
                  <code>{at}</code>: <del>{before}</del> → <ins>{after}</ins>
                </>
              ) : (
                <span className="muted">{t.ranThenOnly}</span>
              )}
            </li>
          ))}
        </ul>
      )}
      {result.pinned.length > 0 && <p className="muted small">{t.pinned(result.pinned)}</p>}
      {result.ran_for_real.length > 0 && <p className="muted small">{t.ranForReal(result.ran_for_real)}</p>}
    </>
  );
}

function firstNode(nodes: GraphNode[], execution: Execution): string {
  return nodes.find(({ name }) => name === execution.failed?.node)?.name ?? nodes[0]?.name ?? "";
}

function parametersOf(nodes: GraphNode[], name: string): string {
  return JSON.stringify(nodes.find((node) => node.name === name)?.parameters ?? {}, null, 2);
}

/** A list is taken for operations, an object for the parameters of the chosen node; null if it is neither. */
function patchOf(node: string, text: string): Operation[] | null {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return value.length > 0 ? (value as Operation[]) : null;
    if (typeof value !== "object" || value === null) return null;
    return [{ op: "setField", node, path: "parameters", value }];
  } catch {
    return null;
  }
}
