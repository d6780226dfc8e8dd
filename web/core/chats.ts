import { type Answer, applyEvent, EMPTY_ANSWER, type ToolPart, waitingTools } from "./answer";
import type { Attachment } from "./attachment";
import {
  BLANK,
  type Conversation,
  decisionKey,
  fromStored,
  LOCAL,
  type Message,
  merged,
  NEW,
  newestTip,
} from "./conversation";
import { follow, type Numbered } from "./follow";
import { Frames } from "./frames";
import type { ModelChoice } from "./model-choice";
import { Observable } from "./observable";
import type { Hooks, QueuedMessage, Reply, StoredConversation, Transport } from "./transport";

/** The conversations that the page has open, and the answers streaming into them, also those not on the screen. */
export class Chats extends Observable {
  #conversations = new Map<string, Conversation>([[NEW, BLANK]]);
  #followers = new Map<string, AbortController>();
  #stopped = new Set<string>();
  #starting = new Map<string, Promise<string | null>>();
  #due = new Set<string>();
  #local = 0;

  constructor(
    private readonly transport: Transport,
    private readonly hooks: Hooks = {},
    private readonly frames = new Frames(),
  ) {
    super();
  }

  get(key: string): Conversation {
    return this.#conversations.get(key) ?? { ...BLANK, state: "loading" };
  }

  /** Shows a session at once if it was open before, and refreshes it in the background. */
  async open(sessionId: string): Promise<void> {
    const known = this.#conversations.get(sessionId);
    if (known?.live) return;
    if (!known || known.state === "failed") this.#set(sessionId, { ...BLANK, state: "loading" });
    await this.#refresh(sessionId);
  }

  /** Clears the new conversation, but keeps a question that is being sent or could not be sent. */
  reset(): void {
    const { live, unsent } = this.get(NEW);
    const chosenModel = this.hooks.rememberedModel?.() ?? null;
    if (!live) this.#set(NEW, { ...BLANK, unsent, chosenModel });
  }

  /** The model that answers from now on; it is sent with every question. */
  chooseModel(key: string, chosenModel: ModelChoice): void {
    this.#change(key, { chosenModel });
  }

  rename(sessionId: string, title: string): void {
    if (this.#conversations.has(sessionId)) this.#change(sessionId, { title });
  }

  forget(sessionId: string): void {
    this.#conversations.delete(sessionId);
  }

  select(key: string, messageId: string): void {
    const { messages } = this.get(key);
    this.#change(key, { tip: newestTip(messages, messageId) });
  }

  /** Resolves with the session's id once the server has stored the question, or with null where that failed. */
  ask(
    key: string,
    text: string,
    agentId?: string,
    attachments: readonly Attachment[] = [],
  ): Promise<string | null> {
    const { tip } = this.get(key);
    const session = key === NEW ? {} : { session_id: key, parent_id: tip ?? undefined };
    const files = attachments.length ? { attachments: idsOf(attachments) } : {};
    const question = this.#question(text, tip, attachments);
    return this.#start(key, question, this.#answer(question.id, agentId), () =>
      this.transport.ask({
        message: text,
        ...session,
        agent_id: agentId,
        ...files,
        ...this.#choice(key, agentId),
      }),
    );
  }

  edit(
    key: string,
    old: Message,
    text: string,
    agentId?: string,
    attachments: readonly Attachment[] = old.attachments,
  ): Promise<string | null> {
    const question = this.#question(text, old.parentId, attachments);
    return this.#start(key, question, this.#answer(question.id, agentId), () =>
      this.transport.edit(old.id, text, agentId, idsOf(attachments), this.#choice(key, agentId)),
    );
  }

  regenerate(key: string, answer: Message, agentId?: string): Promise<string | null> {
    const again = this.#answer(answer.parentId, agentId ?? answer.agentId);
    return this.#start(key, null, again, () =>
      this.transport.regenerate(answer.id, agentId, this.#choice(key, agentId)),
    );
  }

  /** A second agent answers the same question at the same time. Resolves with the id of its answer. */
  async beside(key: string, answer: Message, agentId: string): Promise<string> {
    const choice = this.#choice(key, agentId);
    const response = await this.transport.regenerate(answer.id, agentId, choice, true);
    const parentId = this.#find(key, answer.id)?.parentId ?? answer.parentId;
    const started = this.#answer(parentId, agentId);
    const id = response.headers.get("X-Chie-Message") ?? started.id;
    const { messages, live } = this.get(key);
    if (messages.some((message) => message.id === id)) {
      void response.body?.cancel(); // a refresh has found it already, and follows it
      return id;
    }
    this.#change(key, { messages: [...messages, { ...started, id }], live: live ?? id });
    void this.#follow(key, id, response);
    return id;
  }

  /** What the user has chosen here; nothing leaves the session's model. */
  #choice(key: string, agentId: string | undefined): ModelChoice | undefined {
    const { chosenModel, agentId: current } = this.get(key);
    const chooses = this.hooks.choosesModel?.(agentId ?? current) ?? false;
    return chosenModel && chooses ? chosenModel : undefined;
  }

  /** The id of the session once the question that is being sent is stored; null where that failed. */
  started(key: string): Promise<string | null> {
    return this.#starting.get(key) ?? Promise.resolve(key);
  }

  /** Shows why a message could not be sent; the caller keeps its text. */
  notSent(key: string, error: unknown): void {
    this.#change(key, { unsent: { error } });
  }

  queued(sessionId: string, message: QueuedMessage): void {
    const { queue } = this.get(sessionId);
    const known = queue.some((one) => one.message_id === message.message_id);
    if (!known) this.#change(sessionId, { queue: [...queue, message] });
  }

  unqueue(sessionId: string, id: string): void {
    const { queue } = this.get(sessionId);
    this.#change(sessionId, { queue: queue.filter((one) => one.message_id !== id) });
  }

  /** Stops the answer that a queued message waits for, and sends the message. */
  async sendNow(sessionId: string, id: string): Promise<void> {
    const { live } = this.get(sessionId);
    if (live) this.#stopped.add(live);
    try {
      await this.transport.sendQueued(sessionId, id, true);
      this.unqueue(sessionId, id);
    } finally {
      await this.#refresh(sessionId);
    }
  }

  /** Stops every answer of the conversation. */
  async stopAll(key: string): Promise<void> {
    const { messages, live } = this.get(key);
    const running = messages.filter(({ id, answer }) => this.#followers.has(id) && isStreaming(answer));
    const ids = new Set([...running.map(({ id }) => id), ...(live ? [live] : [])]);
    await Promise.all([...ids].map((id) => this.stop(id)));
  }

  async stop(messageId: string): Promise<void> {
    this.#stopped.add(messageId);
    await this.transport.stop(messageId);
  }

  async decide(key: string, messageId: string, tool: ToolPart, approved: boolean): Promise<void> {
    const name = decisionKey(messageId, tool);
    this.#change(key, { decided: { ...this.get(key).decided, [name]: approved } });
    try {
      await this.transport.approve(messageId, tool.id, approved);
    } catch (error) {
      const { [name]: _, ...rest } = this.get(key).decided;
      this.#change(key, { decided: rest });
      throw error;
    }
  }

  reply(messageId: string, question: string, reply: Reply): Promise<unknown> {
    return this.transport.answer(messageId, question, reply);
  }

  #start(
    key: string,
    question: Message | null,
    answer: Message,
    send: () => Promise<Response>,
  ): Promise<string | null> {
    const starting = this.#begin(key, question, answer, send).finally(() => {
      if (this.#starting.get(key) === starting) this.#starting.delete(key);
    });
    this.#starting.set(key, starting);
    return starting;
  }

  async #begin(
    key: string,
    question: Message | null,
    answer: Message,
    send: () => Promise<Response>,
  ): Promise<string | null> {
    const before = this.get(key);
    const added = question ? [question, answer] : [answer];
    const messages = [...before.messages, ...added];
    this.#change(key, { messages, tip: answer.id, live: answer.id, link: "connected", unsent: null });
    let response: Response;
    try {
      response = await send();
    } catch (error) {
      const kept = this.get(key).messages.filter((message) => !added.includes(message));
      this.#change(key, { messages: kept, tip: before.tip, live: null, unsent: { error } });
      return null;
    }
    const sessionId = response.headers.get("X-Chie-Session") ?? key;
    const messageId = response.headers.get("X-Chie-Message") ?? answer.id;
    this.#accepted(key, sessionId, answer.id, messageId);
    void this.#follow(sessionId, messageId, response);
    this.hooks.onChange?.(sessionId);
    return sessionId;
  }

  /** Replaces the local id with the server's. */
  #accepted(key: string, sessionId: string, localId: string, messageId: string): void {
    const conversation = this.get(key);
    const messages = conversation.messages.map((one) =>
      one.id === localId ? { ...one, id: messageId } : one,
    );
    const agentId = messages.at(-1)?.agentId ?? conversation.agentId;
    this.#set(sessionId, {
      ...conversation,
      state: "ready",
      agentId,
      messages,
      tip: messageId,
      live: messageId,
    });
    if (key !== sessionId) this.#set(key, BLANK);
  }

  async #follow(sessionId: string, messageId: string, first?: Response): Promise<void> {
    if (this.#followers.has(messageId)) return;
    const follower = new AbortController();
    this.#followers.set(messageId, follower);
    try {
      await follow({
        first,
        open: (after, signal) => this.transport.follow(messageId, after, signal),
        after: this.#find(sessionId, messageId)?.answer?.lastEventId ?? 0,
        onEvents: (events) => this.#take(sessionId, messageId, events),
        onLink: (link) => this.#change(sessionId, { link }),
        isTransient: this.transport.isTransient,
        signal: follower.signal,
        pause: this.hooks.pause,
      });
    } catch {
      // The server does not continue the stream; the refresh below loads what it has stored.
    } finally {
      this.#followers.delete(messageId);
    }
    await this.#refresh(sessionId, messageId);
    this.hooks.onChange?.(sessionId);
  }

  #take(sessionId: string, messageId: string, events: Numbered[]): void {
    const message = this.#find(sessionId, messageId);
    if (!message?.answer) return;
    const now = this.hooks.now?.() ?? performance.now();
    let answer = message.answer;
    for (const { id, event } of events) answer = applyEvent(answer, id, event, now);
    if (answer.status === "complete" && this.#stopped.has(messageId))
      answer = { ...answer, status: "stopped" };
    this.#replace(sessionId, { ...message, answer });
    if (!isStreaming(answer)) this.#change(sessionId, { live: this.#running(sessionId), link: "connected" });
    for (const tool of waitingTools(answer)) {
      const decided = decisionKey(messageId, tool) in this.get(sessionId).decided;
      if (!decided && this.hooks.isAllowed?.(tool))
        void this.decide(sessionId, messageId, tool, true).catch(() => undefined);
    }
  }

  /** Another answer of the conversation that is being received. */
  #running(sessionId: string): string | null {
    const { messages } = this.get(sessionId);
    const running = messages.findLast(({ id, answer }) => this.#followers.has(id) && isStreaming(answer));
    return running?.id ?? null;
  }

  async #refresh(sessionId: string, ended?: string): Promise<void> {
    let stored: StoredConversation;
    try {
      stored = await this.transport.load(sessionId);
    } catch (error) {
      const { state } = this.get(sessionId);
      this.#change(sessionId, state === "loading" ? { state: "failed", failure: error } : { live: null });
      return;
    }
    const known = this.get(sessionId);
    if (known.live && known.live !== ended) return; // a newer answer is streaming; its end refreshes
    const seen = new Map(known.messages.map((message) => [message.id, message]));
    const messages = stored.messages.map((one) => merged(seen.get(one.message_id), fromStored(one)));
    // A queued message continues the branch on the screen.
    const tip =
      known.tip !== null && messages.some((message) => message.id === known.tip)
        ? newestTip(messages, known.tip)
        : (messages.at(-1)?.id ?? null);
    const live = stored.messages.findLast((message) => message.status === "streaming")?.message_id ?? null;
    const { title, current_agent_id: agentId, project_id: projectId = null, queue = [] } = stored;
    const storedModel = { model: stored.model ?? null, parameters: stored.parameters ?? {} };
    const loaded = { title, agentId, projectId, storedModel, messages, tip, live, queue };
    this.#set(sessionId, { ...known, state: "ready", failure: null, ...loaded });
    for (const { message_id: id, status } of stored.messages)
      if (status === "streaming") void this.#follow(sessionId, id);
    if (!live) void this.#sendDue(sessionId, queue[0]);
  }

  /** The server sends it by itself; this covers a server that was restarted right then. Trying twice sends it once. */
  async #sendDue(sessionId: string, first: QueuedMessage | undefined): Promise<void> {
    if (first?.status !== "complete" || first.error_code || this.#due.has(first.message_id)) return;
    this.#due.add(first.message_id);
    await this.transport.sendQueued(sessionId, first.message_id, false).catch(() => undefined);
    await this.#refresh(sessionId);
  }

  #question(text: string, parentId: string | null, attachments: readonly Attachment[]): Message {
    return this.#message({ parentId, role: "user", text, agentId: null, answer: null, attachments });
  }

  #answer(parentId: string | null, agentId: string | null = null): Message {
    const answer = EMPTY_ANSWER;
    return this.#message({ parentId, role: "assistant", text: "", agentId, answer, attachments: [] });
  }

  #message(message: Omit<Message, "id" | "model" | "createdAt">): Message {
    this.#local += 1;
    const createdAt = new Date().toISOString();
    return { ...message, id: `${LOCAL}${this.#local}`, model: null, createdAt };
  }

  #find(key: string, messageId: string): Message | undefined {
    return this.get(key).messages.findLast((message) => message.id === messageId);
  }

  #replace(key: string, message: Message): void {
    const { messages } = this.get(key);
    const index = messages.findLastIndex((one) => one.id === message.id);
    this.#change(key, { messages: messages.with(index, message) });
  }

  #change(key: string, change: Partial<Conversation>): void {
    this.#set(key, { ...this.get(key), ...change });
  }

  #set(key: string, conversation: Conversation): void {
    this.#conversations.set(key, conversation);
    this.frames.schedule(this.notify);
  }
}

function isStreaming(answer: Answer | null): boolean {
  return answer?.status === "streaming";
}

function idsOf(attachments: readonly Attachment[]): string[] {
  return attachments.map((one) => one.attachment_id);
}
