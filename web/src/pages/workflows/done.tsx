import { messagesIn } from "../../../core/server-message";
import { Translated } from "../../i18n/translate";
import type { Changed } from "./workflows";

/** The text of a toast after a change, with the notes of the server. */
export function Done({ text, changed }: { text: string; changed: Changed }) {
  return (
    <>
      {text}
      {messagesIn(changed, "notes").map(([key, note]) => (
        <span key={key}>
          {" "}
          <Translated message={note} />
        </span>
      ))}
    </>
  );
}
