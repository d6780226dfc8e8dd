import { useText } from "../../i18n/language";
import { settingsText } from "../../i18n/strings/settings";
import type { ServerTrial } from "./added-servers";
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
