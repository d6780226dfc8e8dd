import "./shared.css";
import { useState } from "react";
import { useMe } from "../../account/account";
import { useText } from "../../i18n/language";
import { sharedText } from "../../i18n/strings/shared";
import { hrefTo } from "../../route";
import { chats } from "../../sessions/chats";
import type { Session } from "../../sessions/client";
import { Button, LinkButton } from "../../ui/button";
import { useCopy } from "../../ui/clipboard";
import { Dialog, DialogFoot } from "../../ui/dialog";
import { ErrorNotice } from "../../ui/feedback";
import { useToast } from "../../ui/toast";
import { useProject } from "../projects/client";
import { shares, shareUrl, useShares } from "./client";
import { LinkList } from "./link-list";

/** Makes links to a conversation, as it is on the screen, and revokes them. */
export default function ShareDialog({ session, onClose }: { session: Session; onClose: () => void }) {
  const t = useText(sharedText);
  const toast = useToast();
  const copy = useCopy();
  const me = useMe();
  const project = useProject(session.project_id ?? null).data;
  const own = useShares().data?.shares.filter((share) => share.session_id === session.session_id) ?? [];
  const [withProject, setWithProject] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const users = me?.authentication === "required";
  const create = async () => {
    setBusy(true);
    setError(null);
    try {
      const share = await shares.create(session.session_id, tipOf(session.session_id), withProject);
      toast((await copy(shareUrl(share.token))) ? t.created : t.createdNotCopied);
    } catch (caught) {
      setError(caught);
    }
    setBusy(false);
  };
  return (
    <Dialog title={t.share} onClose={onClose}>
      <p>{t.explanation}</p>
      {project && users ? (
        <fieldset className="sh-audience">
          <legend>{t.audience}</legend>
          <label>
            <input
              type="radio"
              name="sh-audience"
              checked={!withProject}
              onChange={() => setWithProject(false)}
            />
            {t.everybody}
          </label>
          <label>
            <input
              type="radio"
              name="sh-audience"
              checked={withProject}
              onChange={() => setWithProject(true)}
            />
            {t.members(project.name)}
          </label>
        </fieldset>
      ) : (
        <p className="muted">{users ? t.forUsers : t.forEverybody}</p>
      )}
      {error !== null && <ErrorNotice error={error} />}
      <Button kind="primary" icon="link" data-autofocus disabled={busy} onClick={() => void create()}>
        {t.create}
      </Button>
      {own.length > 0 && (
        <section aria-labelledby="sh-links">
          <h3 id="sh-links">{t.links}</h3>
          <LinkList shares={own} />
        </section>
      )}
      <DialogFoot>
        <LinkButton kind="quiet" href={hrefTo("shared")} onClick={onClose}>
          {t.all}
        </LinkButton>
      </DialogFoot>
    </Dialog>
  );
}

/** The end of the branch on the screen, or null where the page has not opened the conversation. */
function tipOf(sessionId: string): string | null {
  const { state, tip } = chats.get(sessionId);
  return state === "ready" ? tip : null;
}
