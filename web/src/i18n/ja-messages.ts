/** The Japanese texts of the server's messages: the catalogue that the server itself is shipped with. */
import type { Catalogue } from "../../core/server-message";

const files = import.meta.glob<Catalogue>("../../../src/chie/messages/ja/*.json", {
  eager: true,
  import: "default",
});

export const catalogue: Catalogue = Object.assign({}, ...Object.values(files));
