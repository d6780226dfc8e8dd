import { chatText } from "../../i18n/chat";
import { useText } from "../../i18n/language";
import { IconButton } from "../../ui/button";
import { chats } from "./client";
import type { Version } from "./message";

/** Switches between the versions of a message. */
export function Versions({ session, version }: { session: string; version: Version }) {
  const t = useText(chatText);
  if (version.of < 2) return null;
  const step = (to: string | null) => () => to && chats.select(session, to);
  return (
    <span className="versions">
      <IconButton
        small
        icon="left"
        label={t.previousVersion}
        disabled={!version.previous}
        onClick={step(version.previous)}
      />
      <span title={t.version(version.number, version.of)}>
        {version.number}/{version.of}
      </span>
      <IconButton
        small
        icon="right"
        label={t.nextVersion}
        disabled={!version.next}
        onClick={step(version.next)}
      />
    </span>
  );
}
