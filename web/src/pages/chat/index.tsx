import { useText } from "../../i18n/language";
import { shellText } from "../../i18n/shell";
import { Page, Skeletons } from "../../ui/feedback";

export default function ChatPage() {
  const t = useText(shellText);
  return (
    <Page title={t.chat}>
      <Skeletons />
    </Page>
  );
}
