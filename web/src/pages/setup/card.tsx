import "./setup.css";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { messageIn } from "../../../core/server-message";
import { useMe } from "../../account/account";
import { type Agent, agentsQuery } from "../../agents/agents";
import { useText } from "../../i18n/language";
import { setupText } from "../../i18n/strings/setup";
import { useTranslate } from "../../i18n/translate";
import { hrefTo } from "../../route";
import { LinkButton } from "../../ui/button";
import { Icon } from "../../ui/icon";
import { useEndpoints } from "../settings/endpoints";
import { EndpointCard } from "./endpoints";
import { isUsable, useSetup } from "./setup";

const WAITING_MS = 2_000; // somebody may be starting a model server right now

/** Shown in the chat while no agent except the notes agent is available. */
export default function FirstRunCard() {
  const t = useText(setupText);
  const { data } = useSetup({ refetchInterval: WAITING_MS });
  const agents = useQuery({ ...agentsQuery, refetchInterval: WAITING_MS });
  const me = useMe();
  const added = useEndpoints().data?.endpoints.some(({ source }) => source === "page");
  if (!data || !agents.data) return null;
  // A model server that somebody named is used, even while it does not respond and another one does.
  const named = data.endpoints.find(({ id }) => id === "own");
  const heading = data.endpoints.some((endpoint) => endpoint.state === "found" && endpoint.install !== null)
    ? t.packageMissing
    : named && named.state !== "found"
      ? t.notResponding(named.address ?? "")
      : data.endpoints.some(isUsable)
        ? t.connecting
        : t.noModel;
  if (me && !me.admin) return <OnlyAdminsConnect heading={added ? t.addedFails : heading} />;
  if (added) return <AddedEndpointFails agent={agents.data.agents[0]} />;
  return (
    <FirstCard heading={heading}>
      <p className="muted">{t.noModelLead}</p>
      <ul className="su-endpoints">
        {data.endpoints.map((endpoint) => (
          <EndpointCard key={endpoint.id} endpoint={endpoint} />
        ))}
      </ul>
      <div className="row wrap">
        <LinkButton small href={hrefTo("setup")}>
          {t.openSetup}
        </LinkButton>
        <LinkButton small icon="plug" href={hrefTo("servers")}>
          {t.toServers}
        </LinkButton>
      </div>
    </FirstCard>
  );
}

/** Endpoints were added in the settings: what is wrong with them matters, and not that there could be others. */
function AddedEndpointFails({ agent }: { agent: Agent | undefined }) {
  const t = useText(setupText);
  const translate = useTranslate();
  const reason = agent && messageIn(agent, "reason");
  return (
    <FirstCard heading={t.addedFails}>
      {reason && <p>{translate(reason)}</p>}
      <p className="muted">{t.noModelLead}</p>
      <div>
        <LinkButton small icon="gear" href={hrefTo("settings")}>
          {t.toSettings}
        </LinkButton>
      </div>
    </FirstCard>
  );
}

/** For the others there is nothing to connect or to correct. */
function OnlyAdminsConnect({ heading }: { heading: string }) {
  const t = useText(setupText);
  return (
    <FirstCard heading={heading}>
      <p className="muted">{t.noModelOthers}</p>
      <p>{t.askAdmin}</p>
    </FirstCard>
  );
}

function FirstCard({ heading, children }: { heading: string; children: ReactNode }) {
  return (
    <section className="card su-first" aria-labelledby="su-first">
      <h2 id="su-first">
        <Icon name="spark" /> {heading}
      </h2>
      {children}
    </section>
  );
}
