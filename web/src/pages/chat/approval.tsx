import { useState } from "react";
import type { ToolPart } from "../../../core/answer";
import { chatText } from "../../i18n/chat";
import { useText } from "../../i18n/language";
import { ErrorText } from "../../i18n/translate";
import { Button } from "../../ui/button";
import { Icon } from "../../ui/icon";
import { allowedTools } from "./allowed-tools";
import { Arguments } from "./arguments";
import { chats } from "./client";

/** A destructive tool call that waits for the user's approval. Several may wait at once. */
export function Approval({
  session,
  messageId,
  tool,
}: {
  session: string;
  messageId: string;
  tool: ToolPart;
}) {
  const t = useText(chatText);
  const [failure, setFailure] = useState<unknown>(null);
  const changed = tool.changed || allowedTools.hasChanged(tool.name, tool.definition);
  const decide = (approved: boolean) => {
    setFailure(null);
    document.getElementById("message")?.focus(); // keep the focus: the pressed button is about to disappear
    chats.decide(session, messageId, tool, approved).catch(setFailure);
  };
  return (
    <section className="approval" aria-label={`${t.approvalTitle} ${tool.name}`}>
      <div className="approval-head">
        <Icon name="shield" size={20} />
        <div>
          <h3>
            {t.approvalTitle} <code>{tool.name}</code>
          </h3>
          <p className="small muted">{t.approvalLead}</p>
          {changed && <p className="small approval-changed">{t.approvalChanged}</p>}
        </div>
      </div>
      <Arguments value={tool.arguments} />
      <div className="row wrap">
        <Button kind="primary" small onClick={() => decide(true)}>
          {t.allowOnce}
        </Button>
        <Button
          small
          title={t.alwaysNote}
          onClick={() => {
            allowedTools.add(tool.name, tool.definition);
            decide(true);
          }}
        >
          {t.allowAlways}
        </Button>
        <Button small kind="danger" onClick={() => decide(false)}>
          {t.deny}
        </Button>
      </div>
      {failure !== null && (
        <p className="field-error" role="alert">
          {t.approvalFailed} <ErrorText error={failure} />
        </p>
      )}
    </section>
  );
}
