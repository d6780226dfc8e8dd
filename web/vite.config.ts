import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { diagramFrame } from "./diagram/plugin.ts";

// `npm run dev` reloads on every change and forwards API requests to a running Chie.
const CHIE = "http://127.0.0.1:8080";
// Chie answers only its own page, so the Host must remain that of the page's origin.
const SAME_HOST = { target: CHIE, changeOrigin: false };

// The package's browser variant decodes entities with `innerHTML`, which the page's Content-Security-Policy forbids.
const ENTITIES = new URL("./node_modules/decode-named-character-reference/index.js", import.meta.url)
  .pathname;

// The menus need these packages only to be modal, and ours are not.
const UNUSED = new URL("./src/ui/modal-menu.ts", import.meta.url).pathname;

// Every browser that the page supports reads WOFF2; the other formats would triple the size of the fonts.
const onlyWoff2 = {
  name: "only-woff2",
  enforce: "pre" as const,
  transform(code: string, id: string) {
    if (!id.includes("/katex/") || !id.endsWith(".css")) return null;
    return code.replace(/,\s*url\([^)]*\.(?:woff|ttf)\)\s*format\("(?:woff|truetype)"\)/g, "");
  },
};

// A request costs more than the few bytes it could save: without groups, every module that is also used by a page
// which is loaded on demand is a file of its own. Each group takes the modules that its modules import, too.
const CHUNKS = [
  { name: "initial", tags: ["$initial" as const], priority: 2 },
  { name: "markdown", test: /[\\/]src[\\/]pages[\\/]chat[\\/]markdown[\\/]markdown\.tsx$/, priority: 1 },
  { name: "setup-card", test: /[\\/]src[\\/]pages[\\/]setup[\\/]card\.tsx$/, priority: 1 },
];

export default defineConfig({
  base: "./",
  plugins: [react(), diagramFrame(), onlyWoff2],
  resolve: {
    alias: {
      "decode-named-character-reference": ENTITIES,
      "react-remove-scroll": UNUSED,
      "aria-hidden": UNUSED,
    },
  },
  build: {
    outDir: "../src/chie/static",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { output: { codeSplitting: { groups: CHUNKS } } },
    target: ["chrome120", "firefox121", "safari17.4"],
  },
  server: { proxy: { "/api": SAME_HOST, "/health": SAME_HOST }, fs: { allow: [".."] } },
  test: { include: ["core/**/*.test.ts", "src/**/*.test.ts"] },
});
