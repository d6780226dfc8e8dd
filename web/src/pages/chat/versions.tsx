import { chatText } from "../../i18n/chat";
import { useText } from "../../i18n/language";
import { IconButton } from "../../ui/button";
import { chats } from "./client";
import type { Place } from "./message";

/** Steps between the branches of a conversation. */
export function Versions({ session, place }: { session: string; place: Place }) {
  const t = useText(chatText);
  if (place.of < 2) return null;
  const step = (to: string | null) => () => to && chats.select(session, to);
  return (
    <span className="versions">
      <IconButton
        small
        icon="left"
        label={t.previousVersion}
        disabled={!place.previous}
        onClick={step(place.previous)}
      />
      <span title={t.version(place.number, place.of)}>
        {place.number}/{place.of}
      </span>
      <IconButton
        small
        icon="right"
        label={t.nextVersion}
        disabled={!place.next}
        onClick={step(place.next)}
      />
    </span>
  );
}
