import { useText } from "../../i18n/language";
import { settingsText } from "../../i18n/strings/settings";
import { Button } from "../../ui/button";
import { ErrorNotice } from "../../ui/feedback";
import { useSaving } from "../../ui/form";
import { useToast } from "../../ui/toast";

/** Asks before something is removed. */
export function Removal({
  question,
  remove,
  cancel,
}: {
  question: string;
  remove: () => Promise<void>;
  cancel: () => void;
}) {
  const t = useText(settingsText);
  const toast = useToast();
  const { saving, failure, run } = useSaving();
  return (
    <div className="stack">
      <div className="row wrap">
        <strong className="grow" role="alert">
          {question}
        </strong>
        <Button
          small
          kind="danger"
          disabled={saving}
          onClick={() =>
            void run(async () => {
              await remove();
              toast(t.removed);
            })
          }
        >
          {t.remove}
        </Button>
        <Button small autoFocus onClick={cancel}>
          {t.cancel}
        </Button>
      </div>
      {failure !== null && <ErrorNotice error={failure} />}
    </div>
  );
}
