import type { Plugin } from "vite";

const HERE = new URL(".", import.meta.url).pathname;

/** Escapes what would end a script element or start a comment. */
const inline = (script: string) => script.replace(/<(?=\/script|!--)/gi, "\\x3c");

/** Emits `diagram.html` with its script inlined, because a frame without an origin cannot fetch it from the server. */
export function diagramFrame(): Plugin {
  return {
    name: "diagram-frame",
    apply: "build",
    async generateBundle() {
      const read = (path: string) => this.fs.readFile(path, { encoding: "utf8" });
      const mermaid = await this.resolve("@mermaid-js/tiny");
      if (!mermaid) throw new Error("@mermaid-js/tiny is not installed");
      const script = `${await read(mermaid.id)}\n${await read(`${HERE}frame.js`)}`;
      const page = await read(`${HERE}diagram.html`);
      this.emitFile({
        type: "asset",
        fileName: "diagram.html",
        source: page.replace("SCRIPT", () => inline(script)),
      });
    },
  };
}
