import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { fromStored, type Message } from "../../../core/conversation";
import { messageIn } from "../../../core/server-message";
import { useMe } from "../../account/account";
import { agentsQuery } from "../../agents/agents";
import { ApiError } from "../../api";
import { dateTime } from "../../i18n/dates";
import { useLanguage, useText } from "../../i18n/language";
import { sessionsText } from "../../i18n/strings/sessions";
import { sharedText } from "../../i18n/strings/shared";
import { ErrorText, useTranslate } from "../../i18n/translate";
import { go, hrefTo } from "../../route";
import { Button } from "../../ui/button";
import { Empty, ErrorNotice, Notice, Page, Skeletons } from "../../ui/feedback";
import { useToast } from "../../ui/toast";
import { FileSource } from "../chat/attachments/file-source";
import { type SharedConversation, sharedPath, shares, useShared } from "./client";
import { SharedMessage } from "./shared-message";

/** What was shared, as it was then. */
export function SharedView({ token }: { token: string }) {
  const t = useText(sharedText);
  const sessions = useText(sessionsText);
  const { data, error, refetch } = useShared(token);
  if (error instanceof ApiError && error.status === 404) {
    return (
      <Page title={t.conversation}>
        <Empty icon="link" title={t.gone}>
          {t.goneNote}
        </Empty>
      </Page>
    );
  }
  if (!data) {
    return (
      <Page title={t.conversation}>
        {error ? <ErrorNotice error={error} retry={() => void refetch()} /> : <Skeletons lines={6} />}
      </Page>
    );
  }
  return (
    <Page
      title={data.title || sessions.untitled}
      actions={<Continue token={token} />}
      lead={<By shared={data} />}
    >
      <Notice>{t.readOnly}</Notice>
      <FileSource value={sharedPath(token, "attachments")}>
        <Conversation shared={data} />
      </FileSource>
    </Page>
  );
}

function By({ shared }: { shared: SharedConversation }) {
  const t = useText(sharedText);
  const language = useLanguage();
  const users = useMe()?.authentication === "required";
  const when = dateTime(shared.created_at, language);
  return users ? t.sharedBy(shared.user_id, when) : t.sharedAt(when);
}

function Conversation({ shared }: { shared: SharedConversation }) {
  const translate = useTranslate();
  const { data } = useQuery(agentsQuery);
  const messages = useMemo<Message[]>(
    () => shared.messages.map((message) => fromStored({ ...message, session_id: "" })),
    [shared],
  );
  const names = new Map(data?.agents.map((agent) => [agent.agent_id, translate(messageIn(agent, "name"))]));
  return (
    <div className="sh-messages">
      {messages.map((message) => (
        <SharedMessage
          key={message.id}
          message={message}
          agentName={message.agentId ? (names.get(message.agentId) ?? message.agentId) : "Chie"}
        />
      ))}
    </div>
  );
}

function Continue({ token }: { token: string }) {
  const t = useText(sharedText);
  const toast = useToast();
  const [busy, setBusy] = useState(false);
  const copy = async () => {
    setBusy(true);
    try {
      const session = await shares.copy(token);
      go(hrefTo("chat", session.session_id));
    } catch (error) {
      toast(<ErrorText error={error} />);
      setBusy(false);
    }
  };
  return (
    <Button kind="primary" icon="chat" disabled={busy} onClick={() => void copy()}>
      {t.continue}
    </Button>
  );
}
