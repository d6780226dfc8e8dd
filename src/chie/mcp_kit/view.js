"use strict";

/**
 * What the views share: the host's side of MCP Apps (revision 2026-01-26), its colours and its language.
 * Texts become text nodes, never markup.
 */
const chie = (() => {
  const PROTOCOL = "2026-01-26";
  const TALL = 2000;

  const waiting = new Map();
  const state = { input: undefined, result: undefined, cancelled: false, context: {}, capabilities: {} };
  let asked = 0;
  let size = { width: 0, height: 0 };
  /** @type {(state: object) => void} */
  let draw = () => {};
  let words = {};

  const post = (message) => window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  const notify = (method, params) => post({ method, params });

  function request(method, params) {
    asked += 1;
    const id = asked;
    post({ id, method, params });
    return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
  }

  function settle({ id, result, error }) {
    const promise = waiting.get(id);
    waiting.delete(id);
    if (error) promise?.reject(new Error(error.message));
    else promise?.resolve(result);
  }

  const events = {
    "ui/notifications/tool-input": (params) => set({ input: params.arguments ?? {} }),
    "ui/notifications/tool-input-partial": (params) => set({ input: params.arguments ?? {} }),
    "ui/notifications/tool-result": (params) => set({ result: params }),
    "ui/notifications/tool-cancelled": () => set({ cancelled: true }),
    "ui/notifications/host-context-changed": (params) => set({ context: { ...state.context, ...params } }),
  };

  function hear({ source, data }) {
    if (source !== window.parent || data?.jsonrpc !== "2.0") return;
    if (data.method === undefined) settle(data);
    else if (data.id === undefined) events[data.method]?.(data.params ?? {});
    else answer(data);
  }

  function answer({ id, method }) {
    if (method === "ping" || method === "ui/resource-teardown") post({ id, result: {} });
    else post({ id, error: { code: -32601, message: "this view does not know the method" } });
  }

  function set(change) {
    Object.assign(state, change);
    dress(state.context);
    draw(state);
  }

  /** @param {any} context */
  function dress({ theme, styles, locale }) {
    const root = document.documentElement;
    if (theme) root.style.setProperty("color-scheme", theme);
    for (const [name, value] of Object.entries(styles?.variables ?? {})) {
      if (name.startsWith("--") && value) root.style.setProperty(name, value);
    }
    root.lang = (locale ?? navigator.language).toLowerCase().startsWith("ja") ? "ja" : "en";
  }

  /** The host's language decides; where it names none, the browser's. */
  const say = (name, ...values) =>
    values.reduce((text, value, at) => text.replace(`{${at}}`, () => String(value)), words[document.documentElement.lang][name]);

  function when(moment) {
    const zone = state.context.timeZone;
    /** @type {Intl.DateTimeFormatOptions} */
    const form = { dateStyle: "medium", ...(zone ? { timeZone: zone } : {}) };
    return new Intl.DateTimeFormat(document.documentElement.lang, form).format(new Date(moment));
  }

  function make(namespace, tag, attributes, children) {
    const element = document.createElementNS(namespace, tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (typeof value === "function") element.addEventListener(name, value);
      else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : String(value));
    }
    element.append(...children.flat().filter(present));
    return element;
  }

  const present = (child) => child !== undefined && child !== null && child !== false && child !== "";

  const html = (tag, attributes = {}, ...children) => make("http://www.w3.org/1999/xhtml", tag, attributes, children);
  const svg = (tag, attributes = {}, ...children) => make("http://www.w3.org/2000/svg", tag, attributes, children);

  /** What the tool answered: its structure, or the JSON in its text. */
  function answered(result) {
    if (result.structuredContent) return result.structuredContent;
    try {
      return JSON.parse(textOf(result));
    } catch {
      return {};
    }
  }

  const textOf = (result) => result.content?.find(({ type }) => type === "text")?.text ?? "";

  /** Calls a tool of the same server; a failed call throws with the server's own words. */
  async function call(name, args) {
    const result = await request("tools/call", { name, arguments: args });
    if (result.isError) throw new Error(textOf(result));
    return answered(result);
  }

  function measure() {
    const box = document.getElementById("view").getBoundingClientRect();
    const now = { width: Math.ceil(box.width), height: Math.min(Math.ceil(box.height), TALL) };
    if (now.height !== size.height || now.width !== size.width) notify("ui/notifications/size-changed", now);
    size = now;
  }

  function show(...children) {
    document.getElementById("view").replaceChildren(...children.filter(present));
  }

  async function start(name, translations, render) {
    words = translations;
    draw = render;
    dress({});
    window.addEventListener("message", hear);
    const { hostCapabilities, hostContext } = await request("ui/initialize", {
      appInfo: { name, version: "1" },
      appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
      protocolVersion: PROTOCOL,
    });
    notify("ui/notifications/initialized", {});
    set({ capabilities: hostCapabilities ?? {}, context: { ...hostContext, ...state.context } });
    new ResizeObserver(measure).observe(document.getElementById("view"));
  }

  return { start, state, say, when, html, svg, show, call, request, answered, textOf };
})();
