/** The result of a test: the models or tools that were found, or what is wrong. */
import { type ReactNode, useState } from "react";
import { messageIn, type WithOptionalText } from "../../../core/server-message";
import { useText } from "../../i18n/language";
import { settingsText } from "../../i18n/strings/settings";
import { Translated } from "../../i18n/translate";
import { ErrorNotice, Notice } from "../../ui/feedback";
import type { ServerTrial } from "./added-servers";

const SHOWN = 6;

interface Result extends WithOptionalText<"reason"> {
  ok: boolean;
}

/** Runs a test: whether it runs, its result, and why it could not be made. */
export function useTrial<R extends Result>() {
  const [testing, setTesting] = useState(false);
  const [result, setResult] = useState<R | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  async function run(work: () => Promise<R>) {
    if (testing) return;
    setTesting(true);
    setResult(null);
    setFailure(null);
    try {
      setResult(await work());
    } catch (error) {
      setFailure(error);
    } finally {
      setTesting(false);
    }
  }
  return { testing, result, failure, run };
}

export function TrialResult<R extends Result>({
  trial: { result, failure },
  children,
}: {
  trial: { result: R | null; failure: unknown };
  /** What a success shows. */
  children: (result: R) => ReactNode;
}) {
  return (
    <>
      <div role="status">
        {result?.ok && (
          <div ref={reveal} className="st-outcome">
            <Notice kind="good">{children(result)}</Notice>
          </div>
        )}
      </div>
      {result && !result.ok && (
        <div ref={reveal} className="st-outcome">
          <Notice kind="bad">
            <Translated message={messageIn<"reason">(result, "reason")} />
          </Notice>
        </div>
      )}
      {failure !== null && <Failure error={failure} />}
    </>
  );
}

/** Why something could not be done. */
export function Failure({ error }: { error: unknown }) {
  return (
    <div ref={reveal} className="st-outcome">
      <ErrorNotice error={error} />
    </div>
  );
}

/** A form is longer than its dialog: what the button at its foot has led to would be out of sight. */
const reveal = (element: HTMLElement | null) => element?.scrollIntoView({ block: "nearest" });

/** The first names, and how many more there are. */
export function Names({ names }: { names: readonly string[] }) {
  const t = useText(settingsText);
  return (
    <span className="st-models">
      {names.slice(0, SHOWN).map((name) => (
        <code key={name}>{name}</code>
      ))}
      {names.length > SHOWN && <span> {t.more(names.length - SHOWN)}</span>}
    </span>
  );
}

export function ServerTrialResult({ trial }: { trial: { result: ServerTrial | null; failure: unknown } }) {
  const t = useText(settingsText);
  return (
    <TrialResult trial={trial}>
      {({ login, tools }) =>
        login ? (
          t.serverLogin
        ) : (
          <>
            {t.serverWorks(tools.length)} <Names names={tools} />
          </>
        )
      }
    </TrialResult>
  );
}
