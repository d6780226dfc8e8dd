import { dateTime } from "../../i18n/dates";
import { useLanguage, useText } from "../../i18n/language";
import { sessionsText } from "../../i18n/strings/sessions";
import { sharedText } from "../../i18n/strings/shared";
import { ErrorText } from "../../i18n/translate";
import { hrefTo } from "../../route";
import { Button } from "../../ui/button";
import { CopyButton } from "../../ui/copy-button";
import { useToast } from "../../ui/toast";
import { shares as api, type Share, shareUrl } from "./client";

/** Links with the time at which they were made, to copy and to revoke. */
export function LinkList({ shares }: { shares: Share[] }) {
  const t = useText(sharedText);
  const sessions = useText(sessionsText);
  const language = useLanguage();
  const toast = useToast();
  const revoke = (share: Share) =>
    api.revoke(share.token).then(
      () => toast(t.revoked),
      (error: unknown) => toast(<ErrorText error={error} />),
    );
  return (
    <ul className="sh-links">
      {shares.map((share) => {
        const title = share.title || sessions.untitled;
        return (
          <li key={share.token}>
            <div className="grow sh-link">
              <a className="ellipsis" href={hrefTo("shared", share.token)}>
                {title}
              </a>
              <span className="muted small">
                {t.sharedAt(dateTime(share.created_at, language))}
                {share.project_id && ` · ${t.membersOnly}`}
              </span>
            </div>
            <CopyButton text={() => shareUrl(share.token)} label={t.copy} />
            <Button small aria-label={t.revokeLink(title)} onClick={() => void revoke(share)}>
              {t.revoke}
            </Button>
          </li>
        );
      })}
    </ul>
  );
}
