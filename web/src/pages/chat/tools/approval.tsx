import { useId, useState } from "react";
import type { ToolPart } from "../../../../core/answer";
import { allowedTools } from "../../../agents/allowed-tools";
import { useText } from "../../../i18n/language";
import { toolsText } from "../../../i18n/strings/tools";
import { ErrorText } from "../../../i18n/translate";
import { chats } from "../../../sessions/chats";
import { Button } from "../../../ui/button";
import { Icon } from "../../../ui/icon";
import CallDetails, { CallSentence } from "./call-preview";

/** A tool call that waits for the user's approval: what it would do, and the decision. Several may wait at once. */
export default function Approval({
  session,
  messageId,
  tool,
}: {
  session: string;
  messageId: string;
  tool: ToolPart;
}) {
  const t = useText(toolsText);
  const id = useId();
  const [failure, setFailure] = useState<unknown>(null);
  const changed = tool.changed || allowedTools.hasChanged(tool.name, tool.definition);
  const definition = tool.definition; // without one, the operator wants to be asked every time
  const deletes = (tool.preview?.danger ?? "delete") === "delete";
  const decide = (approved: boolean) => {
    setFailure(null);
    document.getElementById("message")?.focus(); // keep the focus: the pressed button is about to disappear
    chats.decide(session, messageId, tool, approved).catch(setFailure);
  };
  return (
    <section className="approval" data-deletes={deletes} aria-labelledby={`${id}-what`}>
      <div className="approval-head">
        <Icon name={deletes ? "warn" : "shield"} size={20} />
        <div>
          <p className="small approval-lead">{t.lead}</p>
          <h3 id={`${id}-what`}>
            <CallSentence tool={tool} />
          </h3>
          {changed && <p className="small approval-changed">{t.changed}</p>}
        </div>
      </div>
      <CallDetails tool={tool} />
      <div className="row wrap">
        <Button kind={deletes ? "destructive" : "primary"} small onClick={() => decide(true)}>
          {t.allowOnce}
        </Button>
        {definition && (
          <Button
            small
            aria-describedby={`${id}-always`}
            onClick={() => {
              allowedTools.add(tool.name, definition);
              decide(true);
            }}
          >
            {t.allowAlways}
          </Button>
        )}
        <Button small onClick={() => decide(false)}>
          {t.deny}
        </Button>
      </div>
      {definition && (
        <p className="small muted" id={`${id}-always`}>
          {t.alwaysNote(tool.name)}
        </p>
      )}
      {failure !== null && (
        <p className="field-error" role="alert">
          {t.failed} <ErrorText error={failure} />
        </p>
      )}
    </section>
  );
}
