import "./menu.css";
import * as Radix from "@radix-ui/react-dropdown-menu";
import { type ReactNode, useCallback, useState } from "react";
import { Icon, type IconName } from "./icon";

/** A menu opened by the button `trigger`, with the usual keys: arrows, Home, End, letters, Escape. */
export function Menu({
  trigger,
  align = "start",
  children,
}: {
  trigger: ReactNode;
  align?: "start" | "center" | "end";
  children: ReactNode;
}) {
  // Everything outside an open modal dialog is inert, so a menu in a dialog is rendered inside it.
  const [dialog, setDialog] = useState<HTMLElement | null>(null);
  const findDialog = useCallback((button: HTMLElement | null) => {
    if (button) setDialog(button.closest("dialog"));
  }, []);
  // Not modal: Radix would lock scrolling with a <style> that our Content-Security-Policy refuses.
  return (
    <Radix.Root modal={false}>
      <Radix.Trigger asChild ref={findDialog}>
        {trigger}
      </Radix.Trigger>
      <Radix.Portal container={dialog}>
        <Radix.Content className="menu" align={align} sideOffset={4} collisionPadding={8}>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

export function MenuItem({
  icon,
  danger,
  disabled,
  note,
  onSelect,
  children,
}: {
  icon?: IconName;
  danger?: boolean;
  disabled?: boolean;
  note?: ReactNode;
  onSelect: () => void;
  children: ReactNode;
}) {
  return (
    <Radix.Item className={`menu-item ${danger ? "danger" : ""}`} disabled={disabled} onSelect={onSelect}>
      {icon && <Icon name={icon} />}
      <span className="menu-item-text">
        {children}
        {note && <span className="menu-item-note">{note}</span>}
      </span>
    </Radix.Item>
  );
}

/** One of several choices, with a check mark on the chosen one. */
export function MenuChoice({
  checked,
  disabled,
  note,
  onSelect,
  children,
}: {
  checked: boolean;
  disabled?: boolean;
  note?: ReactNode;
  onSelect: () => void;
  children: ReactNode;
}) {
  return (
    <Radix.CheckboxItem className="menu-item" checked={checked} disabled={disabled} onSelect={onSelect}>
      <span className="menu-item-text">
        {children}
        {note && <span className="menu-item-note">{note}</span>}
      </span>
      {checked && <Icon name="check" />}
    </Radix.CheckboxItem>
  );
}

export function MenuLabel({ children }: { children: ReactNode }) {
  return <Radix.Label className="menu-label">{children}</Radix.Label>;
}

export function MenuSeparator() {
  return <Radix.Separator className="menu-line" />;
}
