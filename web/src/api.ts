/** The server's HTTP API. Every error is an `ApiError`; `ErrorText` of i18n/translate shows it in the reader's language. */

import { Observable } from "../core/observable";
import { type Params, type ServerMessage, serverText } from "../core/server-message";

export class ApiError extends Error {
  /** `status` is 0 where no response came at all. */
  constructor(
    readonly status: number,
    readonly reason: ServerMessage,
  ) {
    super(`HTTP ${status}`);
    this.name = "ApiError";
  }

  get offline(): boolean {
    return this.status === 0;
  }
}

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
type Values = Record<string, string | number | boolean | string[] | undefined | null>;

interface CallOptions {
  query?: Values;
  /** Sent as JSON, unless it is a form. */
  body?: unknown;
  signal?: AbortSignal;
  /** The request outlives the page. */
  keepalive?: boolean;
}

/** Relative to the page, so that a proxy can serve Chie under any path. */
export function apiUrl(path: string, query: Values = {}): string {
  const url = new URL(path.replace(/^\//, ""), new URL("./", document.baseURI));
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) for (const item of value) url.searchParams.append(name, item);
    else if (value !== undefined && value !== null && value !== "") url.searchParams.set(name, String(value));
  }
  return url.href;
}

/** The raw response, for streams and files; everything else uses `api`. */
export async function send(method: Method, path: string, options: CallOptions = {}): Promise<Response> {
  const { query, body, signal, keepalive } = options;
  let response: Response;
  try {
    const { headers, ...rest } = encoded(body);
    const zone: Record<string, string> = method === "GET" ? {} : { "X-Time-Zone": timeZone() };
    response = await fetch(apiUrl(path, query), {
      method,
      headers: { ...headers, ...zone },
      ...rest,
      signal,
      keepalive,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, { text: serverText(error instanceof Error ? error.message : String(error)) });
  }
  if (response.status === 401 && !path.endsWith("/login")) signIn.require();
  if (!response.ok) throw new ApiError(response.status, await reasonIn(response));
  return response;
}

/** The reader's time zone, such as "Asia/Tokyo"; empty where the browser does not know it. */
function timeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";
}

function encoded(body: unknown): { headers?: Record<string, string>; body?: BodyInit } {
  if (body === undefined) return {};
  if (body instanceof FormData) return { body };
  return { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
}

/** Becomes required with the first 401 response: the session has expired, or there never was one. */
class SignIn extends Observable {
  #required = false;

  get required(): boolean {
    return this.#required;
  }

  require(): void {
    if (this.#required) return;
    this.#required = true;
    this.notify();
  }
}

export const signIn = new SignIn();

interface ErrorBody {
  detail?: unknown;
  code?: string | null;
  params?: Params | null;
}

async function reasonIn(response: Response): Promise<ServerMessage> {
  const body = (await response.json().catch(() => null)) as ErrorBody | null;
  if (typeof body?.detail !== "string") return { text: serverText(`HTTP ${response.status}`) };
  return { text: serverText(body.detail), code: body.code, params: body.params };
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
