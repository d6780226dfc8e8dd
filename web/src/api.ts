/** The house's HTTP API. Every failure is an ApiError; `WhyFailed` of i18n/told shows it in the reader's language. */

import { type ServerText, serverText } from "../core/texts";

export class ApiError extends Error {
  readonly told: ServerText;

  /** `status` is 0 where no answer came at all. */
  constructor(
    readonly status: number,
    told: string,
  ) {
    super(`HTTP ${status}`);
    this.name = "ApiError";
    this.told = serverText(told);
  }

  get offline(): boolean {
    return this.status === 0;
  }
}

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
type Values = Record<string, string | number | boolean | string[] | undefined | null>;

export interface CallOptions {
  query?: Values;
  body?: unknown;
  signal?: AbortSignal;
  headers?: Record<string, string>;
  /** The call survives the page. */
  keepalive?: boolean;
}

/** Relative to the page, so that a proxy may put the house under any path. */
export function address(path: string, query: Values = {}): string {
  const url = new URL(path.replace(/^\//, ""), new URL("./", document.baseURI));
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) for (const item of value) url.searchParams.append(name, item);
    else if (value !== undefined && value !== null && value !== "") url.searchParams.set(name, String(value));
  }
  return url.href;
}

/** The raw response, for streams and files; everybody else uses `api`. */
export async function send(method: Method, path: string, options: CallOptions = {}): Promise<Response> {
  const { query, body, signal, headers, keepalive } = options;
  let response: Response;
  try {
    response = await fetch(address(path, query), {
      method,
      headers: { ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
      keepalive,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, error instanceof Error ? error.message : String(error));
  }
  noteStranger(response, path);
  if (!response.ok) throw new ApiError(response.status, await detail(response));
  return response;
}

/** Whether the house no longer knows, or never knew, who is there. */
export const stranger = {
  is: false,
  readers: new Set<() => void>(),
  subscribe: (changed: () => void) => {
    stranger.readers.add(changed);
    return () => stranger.readers.delete(changed);
  },
};

export function noteStranger(response: Response, path: string): void {
  if (response.status !== 401 || stranger.is || path.endsWith("/login")) return;
  stranger.is = true;
  for (const reader of stranger.readers) reader();
}

async function detail(response: Response): Promise<string> {
  const body: unknown = await response.json().catch(() => null);
  const told = body && typeof body === "object" && "detail" in body ? body.detail : null;
  return typeof told === "string" ? told : `HTTP ${response.status}`;
}

async function call<T>(method: Method, path: string, options?: CallOptions): Promise<T> {
  const response = await send(method, path, options);
  return (response.status === 204 ? undefined : await response.json()) as T;
}

export const api = {
  get: <T>(path: string, options?: CallOptions) => call<T>("GET", path, options),
  post: <T>(path: string, body?: unknown, options?: CallOptions) =>
    call<T>("POST", path, { ...options, body }),
  put: <T>(path: string, body?: unknown, options?: CallOptions) => call<T>("PUT", path, { ...options, body }),
  patch: <T>(path: string, body?: unknown, options?: CallOptions) =>
    call<T>("PATCH", path, { ...options, body }),
  delete: <T = void>(path: string, options?: CallOptions) => call<T>("DELETE", path, options),
};
