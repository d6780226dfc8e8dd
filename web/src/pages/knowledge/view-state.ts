import { hrefTo, type Route } from "../../route";

/** The state of the page as it is in the URL: query, tag, space, list, map or inbox. */
export interface View {
  q: string;
  tag: string | null;
  /** Only notes in this space. */
  space: string | null;
  map: boolean;
  /** The map shows links instead of topics. */
  links: boolean;
  /** The notes are proposals. */
  inbox: boolean;
}

export function viewOf(route: Route): View {
  const { query } = route;
  return {
    q: query.get("q") ?? "",
    tag: query.get("tag"),
    space: query.get("space"),
    map: query.has("map"),
    links: query.get("map") === "links",
    inbox: query.has("inbox"),
  };
}

function queryOf({ q, tag, space, map, links, inbox }: View): string {
  const query = new URLSearchParams();
  if (q) query.set("q", q);
  if (tag) query.set("tag", tag);
  if (space) query.set("space", space);
  if (map) query.set("map", links ? "links" : "");
  if (inbox) query.set("inbox", "");
  const text = query.toString();
  return text && `?${text}`;
}

export function viewHref(view: View): string {
  return hrefTo("knowledge") + queryOf(view);
}

export function noteHref(id: string, view: View): string {
  return hrefTo("knowledge", id) + queryOf(view);
}
