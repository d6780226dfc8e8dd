import "./settings.css";
import { useMe } from "../../account/account";
import { useText } from "../../i18n/language";
import { settingsText } from "../../i18n/strings/settings";
import { Notice, Page } from "../../ui/feedback";
import { EndpointSection } from "./endpoint-list";
import { ServerSection } from "./server-list";

export default function SettingsPage() {
  const t = useText(settingsText);
  const me = useMe();
  const admin = me?.admin ?? false;
  return (
    <Page title={t.title} lead={t.lead}>
      <div className="stack st-page">
        {me && !admin && <Notice>{t.onlyAdmins}</Notice>}
        <EndpointSection admin={admin} />
        {admin && <ServerSection />}
      </div>
    </Page>
  );
}
