// A host of MCP Apps, written from the specification (2026-01-26): one sandboxed frame, JSON-RPC by postMessage.
window.host = (() => {
  const seen = [];
  const waiting = new Map();
  const frame = document.querySelector("iframe");
  let ready;
  let options = {};
  let last = 0;

  const post = (message) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");

  const requests = {
    "ui/initialize": ({ protocolVersion }) => ({
      protocolVersion,
      hostInfo: { name: "host-of-the-tests", version: "1" },
      hostCapabilities: options.capabilities,
      hostContext: options.context,
    }),
    "tools/call": ({ name, arguments: args }) => window.callTool(name, args),
    "ui/open-link": () => ({}),
    "ui/request-display-mode": ({ mode }) => {
      context({ displayMode: mode });
      return { mode };
    },
  };

  window.addEventListener("message", async ({ source, data }) => {
    if (source !== frame.contentWindow || data?.jsonrpc !== "2.0") return;
    if (data.method === undefined) return waiting.get(data.id)?.(data);
    seen.push({ method: data.method, params: data.params });
    if (data.method === "ui/notifications/initialized") ready();
    if (data.method === "ui/notifications/size-changed") frame.style.height = `${data.params.height}px`;
    if (data.id === undefined) return;
    const answer = requests[data.method];
    if (answer) post({ id: data.id, result: await answer(data.params) });
    else post({ id: data.id, error: { code: -32601, message: `no such method: ${data.method}` } });
  });

  function context(changes) {
    post({ method: "ui/notifications/host-context-changed", params: changes });
  }

  return {
    seen,
    context,
    open: (html, given) =>
      new Promise((resolve) => {
        ready = resolve;
        options = given;
        frame.srcdoc = html;
      }),
    input: (args) => post({ method: "ui/notifications/tool-input", params: { arguments: args } }),
    result: (result) => post({ method: "ui/notifications/tool-result", params: result }),
    cancel: () => post({ method: "ui/notifications/tool-cancelled", params: { reason: "user action" } }),
    teardown: () =>
      new Promise((resolve) => {
        last += 1;
        waiting.set(last, (answer) => resolve(answer.result));
        post({ id: last, method: "ui/resource-teardown", params: {} });
      }),
  };
})();
