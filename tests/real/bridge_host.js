// The same host for the same tests, on the bridge that the makers of MCP Apps publish.
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

const frame = document.querySelector("iframe");
const seen = [];
let bridge;

function listen(method, handler) {
  return async (params) => {
    seen.push({ method, params });
    return handler(params);
  };
}

window.host = {
  seen,
  async open(html, { capabilities, context }) {
    bridge = new AppBridge(null, { name: "bridge", version: "1" }, capabilities, { hostContext: context });
    bridge.oncalltool = listen("tools/call", ({ name, arguments: args }) => window.callTool(name, args));
    bridge.onopenlink = listen("ui/open-link", () => ({}));
    bridge.onrequestdisplaymode = listen("ui/request-display-mode", ({ mode }) => {
      bridge.sendHostContextChange({ displayMode: mode });
      return { mode };
    });
    bridge.onsizechange = listen("ui/notifications/size-changed", ({ height }) => {
      frame.style.height = `${height}px`;
    });
    const ready = new Promise((resolve) => {
      bridge.oninitialized = listen("ui/notifications/initialized", resolve);
    });
    // An empty frame first: the bridge must listen before the view speaks.
    await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
    frame.srcdoc = html;
    await ready;
  },
  input: (args) => bridge.sendToolInput({ arguments: args }),
  result: (result) => bridge.sendToolResult(result),
  cancel: () => bridge.sendToolCancelled({ reason: "user action" }),
  context: (changes) => bridge.sendHostContextChange(changes),
  teardown: () => bridge.teardownResource({}),
};
