import { useQuery } from "@tanstack/react-query";
import { memo } from "react";
import { messageIn } from "../../../../core/server-message";
import { agentsQuery } from "../../../agents/agents";
import { useText } from "../../../i18n/language";
import { sideBySideText } from "../../../i18n/strings/side-by-side";
import { useTranslate } from "../../../i18n/translate";
import { Button, IconButton } from "../../../ui/button";
import { Menu, MenuChoice, MenuLabel } from "../../../ui/menu";
import { sideBySide, useSecondAgent } from "./side-by-side";

/** Chooses a second agent that answers the same questions; hidden where there is no other one. */
export const SecondAgent = memo(function SecondAgent({
  session,
  agentId,
}: {
  session: string;
  agentId: string | null;
}) {
  const t = useText(sideBySideText);
  const translate = useTranslate();
  const { data } = useQuery(agentsQuery);
  const second = useSecondAgent(session);
  const others = (data?.agents ?? []).filter((one) => one.available && one.agent_id !== agentId);
  if (!others.length) return null;
  const chosen = others.find((one) => one.agent_id === second);
  const name = chosen && translate(messageIn(chosen, "name"));
  return (
    <Menu
      trigger={
        name ? (
          <Button
            small
            kind="quiet"
            icon="columns"
            aria-label={t.beside(name)}
            title={t.beside(name)}
            className="second-agent chosen"
          >
            <span className="ellipsis">{name}</span>
          </Button>
        ) : (
          <IconButton icon="columns" label={t.compareWith} className="second-agent" />
        )
      }
    >
      <MenuLabel>{t.compareWith}</MenuLabel>
      <MenuChoice checked={!chosen} onSelect={() => sideBySide.choose(session, null)}>
        {t.oneAgent}
      </MenuChoice>
      {others.map((one) => (
        <MenuChoice
          key={one.agent_id}
          checked={one === chosen}
          onSelect={() => sideBySide.choose(session, one.agent_id)}
        >
          {translate(messageIn(one, "name"))}
        </MenuChoice>
      ))}
    </Menu>
  );
});
