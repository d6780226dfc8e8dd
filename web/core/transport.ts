import type { StoredMessage } from "./conversation";

/** What conversations need of the world: the house's API, and a few words from the page. */
export interface StoredConversation {
  session_id: string;
  title: string;
  current_agent_id: string;
  messages: StoredMessage[];
}

export interface Transport {
  load: (sessionId: string) => Promise<StoredConversation>;
  ask: (body: {
    message: string;
    session_id?: string;
    agent_id?: string;
    parent_id?: string;
  }) => Promise<Response>;
  edit: (messageId: string, message: string, agentId?: string) => Promise<Response>;
  regenerate: (messageId: string, agentId?: string) => Promise<Response>;
  follow: (messageId: string, after: number, signal: AbortSignal) => Promise<Response>;
  stop: (messageId: string) => Promise<unknown>;
  approve: (messageId: string, callId: string, approved: boolean) => Promise<unknown>;
  isPassing: (error: unknown) => boolean;
}

export interface Hooks {
  /** Tools whose calls the user has allowed once and for all. */
  isAllowed?: (tool: string) => boolean;
  /** Something was asked or has ended: lists of sessions are stale. */
  onChange?: (sessionId: string) => void;
  now?: () => number;
  pause?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}
