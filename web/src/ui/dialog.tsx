import "./dialog.css";
import { type ReactNode, useEffect, useEffectEvent, useId, useRef } from "react";
import { useText } from "../i18n/language";
import { shellText } from "../i18n/shell";
import { IconButton } from "./button";
import { opener } from "./focus";

/**
 * The browser's own modal dialog: it keeps the focus inside, makes the rest inert, closes on Escape and gives the
 * focus back. Mounted means open: `onClose` may ask first. Put `data-autofocus` on what shall have the focus first.
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
  useEffect(() => {
    const dialog = element.current;
    if (!dialog) return;
    const before = opener();
    if (!dialog.open) dialog.showModal();
    dialog.querySelector<HTMLElement>("[data-autofocus]")?.focus();
    // A second Escape closes it without asking anybody; who does not want that is still there afterwards.
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
      // A chooser of files inside, given up or with the same file again, says "cancel" of its own, which bubbles.
      onCancel={(event) => {
        if (event.target !== element.current) return;
        event.preventDefault();
        onClose();
      }}
      // Who selects text and lets go beside the dialog has not clicked there.
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

export function DialogFoot({ children }: { children: ReactNode }) {
  return <div className="dialog-foot">{children}</div>;
}
