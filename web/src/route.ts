import { useSyncExternalStore } from "react";

/** Routing by the URL's hash: `#/chat/<session>`, `#/knowledge?tag=nginx`. */
export interface Route {
  /** The first segment. */
  page: string;
  /** The segments after it. */
  rest: string[];
  query: URLSearchParams;
}

export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#?\/?/, "").split("?", 2);
  const [page = "", ...rest] = path.split("/").filter(Boolean).map(decode);
  return { page: page || "chat", rest, query: new URLSearchParams(query) };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** A link's `href`, with the segments escaped. */
export function hrefTo(page: string, ...rest: string[]): string {
  return `#/${[page, ...rest].map(encodeURIComponent).join("/")}`;
}

export function go(href: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, "", href);
  else history.pushState(null, "", href);
  dispatchEvent(new PopStateEvent("popstate"));
}

let seen = { hash: "", route: parseRoute("") };

function current(): Route {
  if (seen.hash !== location.hash) seen = { hash: location.hash, route: parseRoute(location.hash) };
  return seen.route;
}

function subscribe(changed: () => void): () => void {
  addEventListener("hashchange", changed);
  addEventListener("popstate", changed);
  return () => {
    removeEventListener("hashchange", changed);
    removeEventListener("popstate", changed);
  };
}

export function useRoute(): Route {
  return useSyncExternalStore(subscribe, current);
}
