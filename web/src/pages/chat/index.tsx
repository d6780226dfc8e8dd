import "./chat.css";
import { useQuery } from "@tanstack/react-query";
import {
  lazy,
  Suspense,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import type { Attachment } from "../../../core/attachment";
import { type Conversation, NEW } from "../../../core/conversation";
import { messageIn } from "../../../core/server-message";
import { afterStart } from "../../after-start";
import { agentsQuery } from "../../agents/agents";
import { ApiError } from "../../api";
import { reconnected } from "../../connectivity";
import { drafts } from "../../drafts";
import { useText } from "../../i18n/language";
import { chatText } from "../../i18n/strings/chat";
import { shellText } from "../../i18n/strings/shell";
import { ErrorText, Translated, useTranslate } from "../../i18n/translate";
import { hrefTo, type Route, useRoute } from "../../route";
import { chats, startedIn, useConversation } from "../../sessions/chats";
import { useSeen } from "../../sessions/session-status";
import { LinkButton } from "../../ui/button";
import { ErrorBoundary } from "../../ui/error-boundary";
import { Empty, ErrorNotice, Notice, Skeletons } from "../../ui/feedback";
import { useToast } from "../../ui/toast";
import { useProject } from "../projects/client";
import { Composer, focusField } from "./composer/composer";
import { useFind } from "./find/use-find";
import { LimitNotice } from "./limit-notice";
import { LiveRegion } from "./live-region";
import { loadMarkdown } from "./messages/answer-view";
import { Messages } from "./messages/messages";
import { messageQueue, submit } from "./queue/sending";
import { Welcome } from "./welcome";

const FindBar = lazy(() => import("./find/find-bar"));
const loadQueue = () => import("./queue/queued-messages");
const QueuedMessages = lazy(loadQueue);
const ProjectChip = lazy(() => import("../projects/project-chip"));

/** `#/chat` starts a conversation, `#/chat/<session>` continues one. */
export default function ChatPage() {
  const { rest, query } = useChatRoute();
  const session = rest[0] ?? NEW;
  const conversation = useConversation(session);
  const { projectId = startedIn.get(session) ?? query.get("project") } = conversation;
  const [agentId, chooseAgent] = useAgent(session, conversation, projectId);
  const { dropped, over, handlers } = useDrop();
  useOpening(session, conversation);
  useReopening(session, conversation);
  useSeen(session, conversation);
  const find = useFind(session, conversation);
  const toast = useToast();
  const stop = useCallback(() => void chats.stopAll(session).catch(() => undefined), [session]);
  const ask = useCallback(
    (text: string, files: readonly Attachment[]) =>
      void submit(session, agentId, text, files).catch((error) => toast(<ErrorText error={error} />)),
    [session, agentId, toast],
  );
  return (
    <section className="chat" {...handlers}>
      {over && <DropOverlay />}
      <Title session={session} conversation={conversation} />
      {find.open && (
        <ErrorBoundary>
          <Suspense fallback={null}>
            <FindBar
              key={find.key}
              conversation={conversation}
              words={find.words}
              message={find.message}
              onClose={find.close}
            />
          </Suspense>
        </ErrorBoundary>
      )}
      <Body
        session={session}
        conversation={conversation}
        agentId={agentId}
        onIdea={(text) => {
          drafts.type(session, text);
          focusField();
        }}
      />
      <ConnectionNotice conversation={conversation} />
      <LimitNotice live={conversation.live} />
      <Queued session={session} conversation={conversation} />
      {projectId && (
        <Suspense fallback={null}>
          <ProjectChip id={projectId} />
        </Suspense>
      )}
      <Composer
        session={session}
        agentId={agentId}
        onAgent={chooseAgent}
        live={conversation.live}
        disabled={conversation.state === "loading" || conversation.state === "failed"}
        onSend={ask}
        onStop={stop}
        dropped={dropped}
      />
      <LiveRegion session={session} conversation={conversation} />
    </section>
  );
}

/** While the code of another page loads, this one is still shown: its URL is no conversation's. */
function useChatRoute(): Route {
  const route = useRoute();
  const last = useRef(route);
  if (route.page === "chat") last.current = route;
  return last.current;
}

/** The heading of the page for screen readers; an empty conversation has a visible one. */
function Title({ session, conversation }: { session: string; conversation: Conversation }) {
  const t = useText(chatText);
  if (session === NEW && !conversation.messages.length) return null;
  return <h1 className="hidden-text">{(session !== NEW && conversation.title) || t.newChat}</h1>;
}

function Body({
  session,
  conversation,
  agentId,
  onIdea,
}: {
  session: string;
  conversation: Conversation;
  agentId: string | null;
  onIdea: (text: string) => void;
}) {
  const t = useText(chatText);
  const { data } = useQuery(agentsQuery);
  const translate = useTranslate();
  const agentName = useMemo(() => {
    const names = new Map(data?.agents.map((agent) => [agent.agent_id, translate(messageIn(agent, "name"))]));
    return (id: string | null) => (id ? (names.get(id) ?? id) : "Chie");
  }, [data, translate]);
  if (conversation.state === "failed") {
    const gone = conversation.failure instanceof ApiError && conversation.failure.status === 404;
    return (
      <div className="chat-body page-body">
        {gone ? (
          <Empty
            icon="chat"
            title={t.missing}
            action={<LinkButton href={hrefTo("chat")}>{t.newChat}</LinkButton>}
          />
        ) : (
          <ErrorNotice error={conversation.failure} retry={() => void chats.open(session)} />
        )}
      </div>
    );
  }
  if (conversation.messages.length) {
    return <Messages session={session} conversation={conversation} agentName={agentName} />;
  }
  return (
    <div className="chat-body">
      {conversation.state === "loading" ? (
        <div className="message">
          <Skeletons lines={6} />
        </div>
      ) : (
        <Welcome agentId={agentId} onIdea={onIdea} />
      )}
    </div>
  );
}

function Queued({ session, conversation }: { session: string; conversation: Conversation }) {
  const t = useText(chatText);
  const busy = conversation.live !== null;
  useEffect(() => {
    if (busy) loadQueue().catch(() => undefined); // a preload, for a connection that is lost later
  }, [busy]);
  const unsaved = useSyncExternalStore(messageQueue.subscribe, () => messageQueue.unsaved(session));
  if (!conversation.queue.length && !unsaved.length) return null;
  return (
    <ErrorBoundary fallback={<p className="chat-notice">{t.hintQueue}</p>}>
      <Suspense fallback={null}>
        <QueuedMessages session={session} conversation={conversation} unsaved={unsaved} />
      </Suspense>
    </ErrorBoundary>
  );
}

function ConnectionNotice({ conversation }: { conversation: Conversation }) {
  const t = useText(chatText);
  const shell = useText(shellText);
  const { error } = useQuery(agentsQuery);
  const { unsent, link, live } = conversation;
  const offline = error instanceof ApiError && error.offline;
  return (
    <div className="chat-notice" role="status">
      {unsent && (
        <Notice kind="bad">
          {t.notSent}{" "}
          {unsent.error instanceof ApiError && !unsent.error.offline && (
            <Translated message={unsent.error.reason} />
          )}
        </Notice>
      )}
      {live && link === "waiting" ? (
        <Notice kind="warn">{t.dropped}</Notice>
      ) : (
        offline && <Notice kind="warn">{shell.offline}</Notice>
      )}
    </div>
  );
}

function DropOverlay() {
  const t = useText(chatText);
  return <div className="drop-overlay">{t.dropHere}</div>;
}

function useOpening(session: string, { title }: Conversation): void {
  const t = useText(chatText);
  useEffect(() => {
    if (session === NEW) chats.reset();
    else void chats.open(session);
    const shown = session === NEW ? afterStart() : Promise.resolve();
    shown.then(loadMarkdown).catch(() => undefined); // a preload; rendering reports the error
  }, [session]);
  useEffect(() => {
    document.title = `${(session !== NEW && title) || t.newChat} · Chie`;
  }, [session, title, t]);
}

/** Opens the conversation again once the server is reachable, where it could not be loaded. */
function useReopening(session: string, { failure }: Conversation): void {
  useEffect(() => {
    if (!(failure instanceof ApiError && failure.offline)) return;
    let mounted = true;
    void reconnected().then(() => {
      if (mounted) void chats.open(session);
    });
    return () => {
      mounted = false;
    };
  }, [session, failure]);
}

/** The user's choice, else the session's agent, the project's, or the one that the page preselects. */
function useAgent(
  session: string,
  conversation: Conversation,
  projectId: string | null,
): [string | null, (id: string) => void] {
  const { data } = useQuery(agentsQuery);
  const project = useProject(projectId).data?.agent_id ?? null;
  const [choice, setChoice] = useState<{ session: string; id: string } | null>(null);
  const chosen = choice?.session === session ? choice.id : null;
  const known = (id: string | null) => (data?.agents.some((agent) => agent.agent_id === id) ? id : null);
  const agentId =
    known(chosen) ?? known(conversation.agentId) ?? known(project) ?? data?.preselected_id ?? null;
  return [agentId, useCallback((id) => setChoice({ session, id }), [session])];
}

function useDrop() {
  const [dropped, setDropped] = useState<{ files: File[]; key: number } | null>(null);
  const [over, setOver] = useState(false);
  const hasFiles = (event: React.DragEvent) => event.dataTransfer.types.includes("Files");
  const handlers = {
    onDragOver: (event: React.DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(true);
    },
    onDragLeave: (event: React.DragEvent) => {
      if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false);
    },
    onDrop: (event: React.DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(false);
      setDropped({ files: [...event.dataTransfer.files], key: Date.now() });
    },
  };
  return { dropped, over, handlers };
}
