/** How often a note was used, what readers say about it, and whether searches are recorded. */
import { useQuery } from "@tanstack/react-query";
import { api } from "../../../api";
import { useText } from "../../../i18n/language";
import { usefulnessText } from "../../../i18n/strings/usefulness";
import { ErrorText } from "../../../i18n/translate";
import { queryClient } from "../../../query";
import { Button } from "../../../ui/button";
import { MenuChoice } from "../../../ui/menu";
import { useToast } from "../../../ui/toast";
import { type Mark, type Note, one, ROOT, type Uses } from "../notes";

const COUNTED = ["shown", "opened", "cited", "recalled", "followed"] as const;
const MARKS = ["helpful", "wrong"] as const;
const RECORDING = ["knowledge", "recording"];

export function Usefulness({ note }: { note: Note }) {
  const t = useText(usefulnessText);
  const toast = useToast();
  if (note.proposal) return null;
  const uses = note.uses ?? {};
  const counts = COUNTED.filter((use) => uses[use]).map((use) => t[use](uses[use] ?? 0));
  async function say(mark: Mark) {
    try {
      const body = { mark: note.mark === mark ? null : mark };
      const marked = await api.put<{ uses: Uses; mark: Mark | null }>(`${one(note.id)}/mark`, body);
      queryClient.setQueryData<Note>(
        ["knowledge", "note", note.id],
        (before) => before && { ...before, ...marked },
      );
    } catch (error) {
      toast(<ErrorText error={error} />);
    }
  }
  return (
    <div className="row wrap kn-usefulness">
      {MARKS.map((mark) => (
        <Button
          key={mark}
          small
          icon={mark === "helpful" ? "check" : "close"}
          kind={note.mark === mark ? "plain" : "quiet"}
          aria-pressed={note.mark === mark}
          onClick={() => void say(mark)}
        >
          {t[`mark_${mark}`]}
          {uses[mark] ? ` ${uses[mark]}` : ""}
        </Button>
      ))}
      {counts.length > 0 && (
        <span className="muted small" title={t.hint}>
          {counts.join(" · ")}
        </span>
      )}
    </div>
  );
}

/** The user's consent to recording searches, in a menu. */
export function RecordingChoice() {
  const t = useText(usefulnessText);
  const toast = useToast();
  const { data } = useQuery({
    queryKey: RECORDING,
    queryFn: ({ signal }) =>
      api.get<{ recording: boolean; searches: number }>(`${ROOT}/recording`, { signal }),
  });
  async function change() {
    try {
      const changed = await api.put(`${ROOT}/recording`, { recording: !data?.recording });
      queryClient.setQueryData(RECORDING, changed);
      toast(data?.recording ? t.notRecording : t.recording);
    } catch (error) {
      toast(<ErrorText error={error} />);
    }
  }
  return (
    <MenuChoice
      checked={data?.recording ?? false}
      disabled={!data}
      note={t.recordNote(data?.searches ?? 0)}
      onSelect={() => void change()}
    >
      {t.record}
    </MenuChoice>
  );
}
