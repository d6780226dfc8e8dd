import { useText } from "../i18n/language";
import { accountText } from "../i18n/strings/account";
import { IconButton } from "../ui/button";
import { Menu, MenuItem, MenuLabel } from "../ui/menu";
import { signOut, useMe } from "./account";

/** Shown only where authentication is required. */
export function AccountMenu() {
  const t = useText(accountText);
  const me = useMe();
  if (me?.authentication !== "required") return null;
  return (
    <Menu trigger={<IconButton icon="person" label={t.account(me.id)} />}>
      <MenuLabel>
        {t.account(me.id)}
        {me.admin && ` · ${t.admin}`}
      </MenuLabel>
      <MenuItem icon="leave" onSelect={() => void signOut()}>
        {t.signOut}
      </MenuItem>
    </Menu>
  );
}
