import "./dialog.css";
import "./palette.css";
import { type ReactNode, useEffectEvent, useId, useLayoutEffect, useRef } from "react";
import { useText } from "../i18n/language";
import { shellText } from "../i18n/strings/shell";
import { Button, IconButton } from "./button";
import { opener } from "./focus";

/**
 * A native modal dialog: it traps the focus, makes the rest inert, closes on Escape and restores the focus. It is open
 * while mounted; `onClose` may ask for confirmation first. `data-autofocus` marks the element to focus initially.
 */
export function Modal({
  className = "",
  labelledBy,
  label,
  onClose,
  children,
}: {
  className?: string;
  labelledBy?: string;
  label?: string;
  onClose: () => void;
  children: ReactNode;
}) {
  const element = useRef<HTMLDialogElement>(null);
  const pressed = useRef(false);
  const closed = useEffectEvent(onClose);
  // A layout effect restores the focus before the dialog is gone. Later it would take the focus from whatever has it by then.
  useLayoutEffect(() => {
    const dialog = element.current;
    if (!dialog) return;
    const before = opener();
    if (!dialog.open) dialog.showModal();
    dialog.querySelector<HTMLElement>("[data-autofocus]")?.focus();
    // Browsers close a dialog on the second Escape without a cancel event: reopen it and let `onClose` decide.
    const reopen = () => {
      dialog.showModal();
      closed();
    };
    dialog.addEventListener("close", reopen);
    return () => {
      dialog.removeEventListener("close", reopen);
      dialog.close();
      if (before?.isConnected) before.focus();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape does by keyboard what a click beside the dialog does
    <dialog
      ref={element}
      className={`dialog ${className}`}
      aria-labelledby={labelledBy}
      aria-label={label}
      // A cancelled file chooser inside fires its own "cancel" event, which bubbles.
      onCancel={(event) => {
        if (event.target !== element.current) return;
        event.preventDefault();
        onClose();
      }}
      // Ignores a text selection that starts inside and ends outside the dialog.
      onPointerDown={(event) => {
        pressed.current = event.target === element.current;
      }}
      onClick={(event) => event.target === element.current && pressed.current && onClose()}
    >
      {children}
    </dialog>
  );
}

export function Dialog({
  title,
  wide,
  onClose,
  children,
}: {
  title: string;
  wide?: boolean;
  onClose: () => void;
  children: ReactNode;
}) {
  const t = useText(shellText);
  const id = useId();
  return (
    <Modal className={wide ? "wide" : ""} labelledBy={id} onClose={onClose}>
      <div className="dialog-head">
        <h2 id={id}>{title}</h2>
        <IconButton label={t.close} icon="close" onClick={onClose} />
      </div>
      <div className="dialog-body">{children}</div>
    </Modal>
  );
}

/** The buttons of a dialog; with `onCancel`, the first one is "Cancel". */
export function DialogFoot({ onCancel, children }: { onCancel?: () => void; children: ReactNode }) {
  const t = useText(shellText);
  return (
    <div className="dialog-foot">
      {onCancel && <Button onClick={onCancel}>{t.cancel}</Button>}
      {children}
    </div>
  );
}
