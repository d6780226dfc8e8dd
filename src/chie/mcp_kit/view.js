"use strict";

/**
 * The code that all views share: the MCP Apps protocol (revision 2026-01-26), the host's theme and language, and
 * functions that build elements. Texts become text nodes, never markup.
 */
const chie = (() => {
  const PROTOCOL = "2026-01-26";
  const MAX_HEIGHT_PX = 2000;

  const pending = new Map();
  const state = { input: undefined, result: undefined, cancelled: false, context: {}, capabilities: {} };
  let lastId = 0;
  let size = { width: 0, height: 0 };
  /** @type {(state: object) => void} */
  let draw = () => {};
  let texts = {};

  const post = (message) => window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  const notify = (method, params) => post({ method, params });

  function request(method, params) {
    lastId += 1;
    const id = lastId;
    post({ id, method, params });
    return new Promise((resolve, reject) => pending.set(id, { resolve, reject }));
  }

  function settle({ id, result, error }) {
    const promise = pending.get(id);
    pending.delete(id);
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

  function receive({ source, data }) {
    if (source !== window.parent || data?.jsonrpc !== "2.0") return;
    if (data.method === undefined) settle(data);
    else if (data.id === undefined) events[data.method]?.(data.params ?? {});
    else respond(data);
  }

  function respond({ id, method }) {
    if (method === "ping" || method === "ui/resource-teardown") post({ id, result: {} });
    else post({ id, error: { code: -32601, message: "method not supported by this view" } });
  }

  function set(change) {
    Object.assign(state, change);
    applyContext(state.context);
    draw(state);
  }

  /** @param {any} context */
  function applyContext({ theme, styles, locale }) {
    const root = document.documentElement;
    if (theme) root.style.setProperty("color-scheme", theme);
    for (const [name, value] of Object.entries(styles?.variables ?? {})) {
      if (name.startsWith("--") && value) root.style.setProperty(name, value);
    }
    root.lang = (locale ?? navigator.language).toLowerCase().startsWith("ja") ? "ja" : "en";
  }

  /** In the host's language, or the browser's where the host names none. */
  const t = (name, ...values) =>
    values.reduce((filled, value, at) => filled.replace(`{${at}}`, () => String(value)), texts[document.documentElement.lang][name]);

  function date(moment) {
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

  /** A tool result's structured content, or the JSON in its text. */
  function dataOf(result) {
    if (result.structuredContent) return result.structuredContent;
    try {
      return JSON.parse(textOf(result));
    } catch {
      return {};
    }
  }

  const textOf = (result) => result.content?.find(({ type }) => type === "text")?.text ?? "";

  /** Calls a tool of the same server; throws the tool's error text. */
  async function call(name, args) {
    const result = await request("tools/call", { name, arguments: args });
    if (result.isError) throw new Error(textOf(result));
    return dataOf(result);
  }

  function measure() {
    const box = document.getElementById("view").getBoundingClientRect();
    const now = { width: Math.ceil(box.width), height: Math.min(Math.ceil(box.height), MAX_HEIGHT_PX) };
    if (now.height !== size.height || now.width !== size.width) notify("ui/notifications/size-changed", now);
    size = now;
  }

  function show(...children) {
    document.getElementById("view").replaceChildren(...children.filter(present));
  }

  async function start(name, translations, render) {
    texts = translations;
    draw = render;
    applyContext({});
    window.addEventListener("message", receive);
    const { hostCapabilities, hostContext } = await request("ui/initialize", {
      appInfo: { name, version: "1" },
      appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
      protocolVersion: PROTOCOL,
    });
    notify("ui/notifications/initialized", {});
    set({ capabilities: hostCapabilities ?? {}, context: { ...hostContext, ...state.context } });
    new ResizeObserver(measure).observe(document.getElementById("view"));
  }

  return { start, state, t, date, html, svg, show, call, request, dataOf, textOf };
})();
