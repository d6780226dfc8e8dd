/** What the form of an endpoint holds, and what of it is sent. */
import type { Endpoint, EndpointFields, Kind } from "./endpoints";

export type CredentialKind = "profile" | "api_key" | "keys";

export interface EndpointForm {
  kind: Kind;
  name: string;
  url: string;
  region: string;
  profile: string;
  model: string;
  apiKey: string;
  credentials: CredentialKind;
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string;
}

export const DEFAULT_URLS: Partial<Record<Kind, string>> = {
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com",
  gemini: "https://generativelanguage.googleapis.com/v1beta/openai",
};
const DEFAULT_REGION = "ap-northeast-1";

export function emptyForm(kind: Kind, name: string): EndpointForm {
  return {
    kind,
    name,
    url: "",
    region: DEFAULT_REGION,
    profile: "",
    model: "",
    apiKey: "",
    credentials: "profile",
    accessKeyId: "",
    secretAccessKey: "",
    sessionToken: "",
  };
}

export function formOf(endpoint: Endpoint): EndpointForm {
  const url = endpoint.url === DEFAULT_URLS[endpoint.kind] ? "" : (endpoint.url ?? "");
  return {
    ...emptyForm(endpoint.kind, String(endpoint.name)),
    url,
    region: endpoint.region ?? DEFAULT_REGION,
    profile: endpoint.profile ?? "",
    model: endpoint.model ?? "",
    credentials: endpoint.key_kind === "keys" ? "keys" : endpoint.key_kind ? "api_key" : "profile",
  };
}

/** A key is sent only if one was entered; an empty field keeps the stored one. */
export function fieldsOf(form: EndpointForm, stored: Endpoint | null): EndpointFields {
  const fields: EndpointFields = { name: form.name.trim(), model: form.model.trim() || null };
  if (form.kind === "bedrock") return { ...fields, ...bedrockFields(form, stored) };
  const key = form.apiKey.trim();
  return { ...fields, url: form.url.trim() || null, ...(key && { api_key: key }) };
}

const NO_KEYS = { api_key: null, access_key_id: null, secret_access_key: null, session_token: null };

function bedrockFields(form: EndpointForm, stored: Endpoint | null): EndpointFields {
  const region = form.region.trim() || null;
  const hasKey = stored !== null && stored.key !== "none";
  if (form.credentials === "profile")
    return { region, profile: form.profile.trim() || null, ...(hasKey && NO_KEYS) };
  if (form.credentials === "api_key") {
    const key = form.apiKey.trim();
    return { region, profile: null, ...(key && { ...NO_KEYS, api_key: key }) };
  }
  const id = form.accessKeyId.trim();
  const secret = form.secretAccessKey.trim();
  if (!id && !secret) return { region, profile: null };
  const keys = { access_key_id: id || null, secret_access_key: secret || null };
  return { region, profile: null, ...NO_KEYS, ...keys, session_token: form.sessionToken.trim() || null };
}
