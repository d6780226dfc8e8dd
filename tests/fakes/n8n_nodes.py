"""Nodes as n8n's MCP server describes them: a request, a messenger with resources, a setter with modes."""

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

METHODS = "'GET' | 'POST' | 'POST' | Expression<string>"

SEARCH = """## "{query}"
Found 4 nodes:

- n8n-nodes-base.httpRequest
  Display Name: HTTP Request
  Version: 4.5
  Description: Makes an HTTP request and returns the response data
  Discriminators: none (use node directly without resource/operation/mode)

- n8n-nodes-base.messenger
  Display Name: Messenger
  Version: 2
  Description: 送信 and more
  Discriminators:
    resource:
      - message:
          operations:
            - post
              Posts a message
            - getAll
      - userGroup:
          operations:
            - getAll
              Lists all

  Use get_node_types with discriminators:
    get_node_types({{ nodeIds: [{{ nodeId: "n8n-nodes-base.messenger", resource: "message", operation: "post" }}] }})

- n8n-nodes-base.messengerTool
  Display Name: Messenger Tool
  Version: 2
  Discriminators:
    resource:
      - message:
          operations:
            - post
            - getAll
      - userGroup:
          operations:
            - getAll

- n8n-nodes-base.set [TRIGGER]
  Display Name: Set
  Version: odd
  Discriminators:
    mode:
      - manual: "Manual Mapping"
        One by one
      - raw: "JSON\""""

HTTP = f"""# TypeScript Type Definitions

## n8n-nodes-base.httpRequest (v45)

```typescript
/**
 * HTTP Request Node - Version 4.5
 */

// Helper types for special n8n fields
type Pair = {{ name: string; value: unknown }};

export interface HttpRequestV45Params {{
/**
 * The request method to use
 * @default GET
 */
    method?: {METHODS};
/**
 * It&#39;s the &lt;code&gt;URL&lt;/code&gt; that doesn't end; see {{ docs
 * @builderHint something long
that goes on
 */
    url: string | Expression<string>;
/**
 * Body
 * @displayOptions.show {{ method: ["POST"], /sendBody: [true] }}
 */
    body?: Pair;
  options?: {{
    /** Redirects
     * @default {{}}
     */
    redirect?: {{
      /** Follow */
      follow?: 'all' | 'none' | Expression<string>;
    }};
    headers?: Array<{{
      /** Name */
      name?: string | Expression<string>;
      kind?: 'stringValue' | 'numberValue';
    }}>;
  }};
}}

export type HttpRequestV45Node = {{
  type: 'n8n-nodes-base.httpRequest';
}};
```"""

POST = """# TypeScript Type Definitions

```typescript
/**
 * Messenger Node - Version 2
 * Discriminator: resource=message, operation=post
 */

export type MessengerV2MessagePostParams = {
  resource: 'message';
  operation: 'post';
  text: string | Expression<string>;
};
```"""

SET = """# TypeScript Type Definitions

```typescript
// ── mode: manual ──
/**
 * Set Node - Version 3
 */
type Value = { a: 'x' | 'y' };
export type SetV3ManualParams = {
  mode: 'manual';
  value?: Value;
};

// ── mode: raw ──
type Value = { a: 'x' | 'y' };
export type SetV3RawParams = {
  mode: 'raw';
  value?: Value;
};
```"""


def search_results(query: str) -> str:
    if query == "何もない":
        return f'## "{query}"\nNo nodes found. Try a different search term.'
    return SEARCH.format(query=query)


def get_node_types(arguments: Json) -> Json:
    asked = arguments["nodeIds"][0]
    match asked["nodeId"].rpartition(".")[2]:
        case "httpRequest":
            return {"definitions": HTTP}
        case "messenger" if (asked.get("resource"), asked.get("operation")) == ("message", "post"):
            return {"definitions": POST}
        case "messenger" if asked.get("operation"):
            text = f"Error: Invalid operation '{asked['operation']}' for resource 'message'. Available: post, get_all"
        case "messenger":
            text = (
                "Error: Node 'n8n-nodes-base.messenger' requires resource and operation discriminators. "
                "Available resource (operations): message (post, get_all); user_group (get_all)."
            )
        case "set" if asked.get("mode") not in (None, "manual", "raw"):
            text = "Error: Invalid mode. Available: manual, raw"
        case "set":
            return {"definitions": SET}
        case _:
            text = f"Node type '{asked['nodeId']}' not found. Use search_node to find the correct node ID."
    return {"definitions": f"\n\n# Errors\n\n{text}"}


def parameter_errors(node: Json) -> Iterator[Json]:
    """The sentences of n8n 2.41.1."""
    parameters = node.get("parameters", {})
    if parameters.get("method", "GET") not in ("GET", "POST"):
        message = 'Field "parameters.method": Must be an n8n expression (={{...}})'
        yield {"path": "parameters.method", "message": message}
    if not isinstance(parameters.get("url", ""), str):
        message = 'Field "parameters.url" has wrong type. Expected string, but got number.'
        yield {"path": "parameters.url", "message": message}
    if parameters.get("operation") == "send":
        message = 'Invalid value for "parameters.operation": got "send", expected one of: "post", "getAll".'
        yield {"path": "", "message": message}
    if parameters.get("conditions") == {}:
        message = 'Required field "parameters.conditions.0.value" is missing. Expected array.'
        yield {"path": "parameters.conditions.0.value", "message": message}
    if "odd" in parameters:
        yield {"path": "parameters.odd", "message": 'Something "else" is wrong.\nReally.'}
    if parameters.get("mystery"):
        yield {"path": "parameters.mystery", "message": 'Field "parameters.mystery": Must be an n8n expression'}
