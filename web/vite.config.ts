import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { diagramFrame } from "./diagram/plugin.ts";

// `npm run dev` shows changes at once; it talks to a house that runs beside it.
const HOUSE = "http://127.0.0.1:8080";

// Its variant for browsers reads entities with `innerHTML`, which the page's policy forbids.
const ENTITIES = new URL("./node_modules/decode-named-character-reference/index.js", import.meta.url)
  .pathname;

export default defineConfig({
  base: "./",
  plugins: [react(), diagramFrame()],
  resolve: { alias: { "decode-named-character-reference": ENTITIES } },
  build: {
    outDir: "../src/chie/static",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: ["chrome120", "firefox121", "safari17.4"],
  },
  server: { proxy: { "/api": HOUSE, "/health": HOUSE } },
  test: { include: ["core/**/*.test.ts", "src/**/*.test.ts"] },
});
