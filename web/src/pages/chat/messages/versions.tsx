import { useText } from "../../../i18n/language";
import { chatText } from "../../../i18n/strings/chat";
import { sideBySideText } from "../../../i18n/strings/side-by-side";
import { chats } from "../../../sessions/chats";
import { IconButton } from "../../../ui/button";
import { sideBySide } from "../side-by-side/side-by-side";
import type { Version } from "./message";

interface Props {
  session: string;
  version: Version;
  /** The answer, which can be shown beside the version before it. */
  answer?: string;
}

/** Switches between the versions of a message. */
export function Versions({ session, version, answer }: Props) {
  const t = useText(chatText);
  const { sideBySide: label } = useText(sideBySideText);
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
      {answer && (
        <IconButton
          small
          icon="columns"
          label={label}
          onClick={() => {
            const [first, second] = version.previous
              ? [version.previous, answer]
              : [answer, version.next ?? answer];
            sideBySide.show(first, second);
          }}
        />
      )}
    </span>
  );
}
