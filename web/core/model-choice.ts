/** What a conversation may set for its model; the names are the server's. */
export interface Parameters {
  temperature?: number;
  max_tokens?: number;
  reasoning_effort?: string;
}

/** `model` is a reference, `<endpoint id>/<model name>`; null is the agent's own model. */
export interface ModelChoice {
  model: string | null;
  parameters: Parameters;
}

export const OWN_MODEL: ModelChoice = { model: null, parameters: {} };

const PATH = /^(?:\.{0,2}[/\\]|~[/\\]|[a-z]:[/\\])|\.gguf$/i;
const SUFFIX = /(?:-\d{5}-of-\d{5})?\.(?:gguf|bin|safetensors)$/i;

/** As people read it: some servers list the path of the model's file. */
export function modelName(name: string): string {
  if (!PATH.test(name)) return name;
  const last = name.split(/[/\\]/).findLast(Boolean) ?? name;
  return last.replace(SUFFIX, "") || name;
}

/** The name in a reference. */
export function referredName(reference: string): string {
  return modelName(reference.slice(reference.indexOf("/") + 1));
}
