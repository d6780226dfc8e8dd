import { useState } from "react";
import type { ToolPart } from "../../../core/answer";
import { chatText } from "../../i18n/chat";
import { useText } from "../../i18n/language";
import { WhyFailed } from "../../i18n/told";
import { Button } from "../../ui/button";
import { Icon } from "../../ui/icon";
import { allowedTools } from "./allowed";
import { chats } from "./client";
import { Arguments } from "./tool-card";

/** A tool that can destroy waits for the user's word. Several may wait at once, each for its own. */
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
  const decide = (approved: boolean) => {
    setFailure(null);
    document.getElementById("message")?.focus(); // the button goes away, and the focus must not go with it
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
            allowedTools.add(tool.name);
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
          {t.approvalFailed} <WhyFailed error={failure} />
        </p>
      )}
    </section>
  );
}
