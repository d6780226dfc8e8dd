import "./shared.css";
import { useText } from "../../i18n/language";
import { sharedText } from "../../i18n/strings/shared";
import { useRoute } from "../../route";
import { Empty, ErrorNotice, Page, Skeletons } from "../../ui/feedback";
import { useShares } from "./client";
import { LinkList } from "./link-list";
import { SharedView } from "./shared-view";

/** `#/shared` lists the user's links, `#/shared/<token>` shows a shared conversation. */
export default function SharedPage() {
  const token = useRoute().rest[0];
  return token ? <SharedView key={token} token={token} /> : <SharedLinks />;
}

function SharedLinks() {
  const t = useText(sharedText);
  const { data, error, isPending, refetch } = useShares();
  return (
    <Page title={t.title} lead={t.lead}>
      {isPending && <Skeletons lines={4} />}
      {error && !data && <ErrorNotice error={error} retry={() => void refetch()} />}
      {data && !data.shares.length && (
        <Empty icon="link" title={t.none}>
          {t.noneNote}
        </Empty>
      )}
      {data && <LinkList shares={data.shares} />}
    </Page>
  );
}
