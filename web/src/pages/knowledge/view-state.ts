import { hrefTo, type Route } from "../../route";

/** The state of the page as it is in the URL: query, tag, list or map. */
export interface View {
  q: string;
  tag: string | null;
  map: boolean;
}

export function viewOf(route: Route): View {
  return { q: route.query.get("q") ?? "", tag: route.query.get("tag"), map: route.query.has("map") };
}

function queryOf({ q, tag, map }: View): string {
  const query = new URLSearchParams();
  if (q) query.set("q", q);
  if (tag) query.set("tag", tag);
  if (map) query.set("map", "");
  const text = query.toString();
  return text && `?${text}`;
}

export function viewHref(view: View): string {
  return hrefTo("knowledge") + queryOf(view);
}

export function noteHref(id: string, view: View): string {
  return hrefTo("knowledge", id) + queryOf(view);
}
