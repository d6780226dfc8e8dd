import { useText } from "../../i18n/language";
import type { ServerTrial } from "./added-servers";
import { settingsText } from "./text";
import { Names, TrialResult } from "./trial";

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
