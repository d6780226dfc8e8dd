import "./toast.css";
import { createContext, type ReactNode, useCallback, useContext, useMemo, useRef, useState } from "react";
import { useText } from "../i18n/language";
import { shellText } from "../i18n/strings/shell";
import { Button, IconButton } from "./button";

export const UNDO_MS = 8_000;

interface Toast {
  id: number;
  text: ReactNode;
  undo?: () => void;
}

type Show = (text: ReactNode, options?: { undo?: () => void }) => void;

const Context = createContext<Show>(() => undefined);

/** `toast("Saved.")`; with `{ undo }` it shows an Undo button. */
export function useToast(): Show {
  return useContext(Context);
}

export function Toasts({ children }: { children: ReactNode }) {
  const t = useText(shellText);
  const [toasts, setToasts] = useState<Toast[]>([]);
  const next = useRef(0);
  const hide = useCallback((id: number) => setToasts((all) => all.filter((toast) => toast.id !== id)), []);
  const show = useCallback<Show>(
    (text, { undo } = {}) => {
      const id = next.current++;
      setToasts((all) => [...all.slice(-2), { id, text, undo }]);
      setTimeout(() => hide(id), UNDO_MS);
    },
    [hide],
  );
  const list = useMemo(
    () =>
      toasts.map((toast) => (
        <div key={toast.id} className="toast">
          <span>{toast.text}</span>
          {toast.undo && (
            <Button
              small
              onClick={() => {
                toast.undo?.();
                hide(toast.id);
              }}
            >
              {t.undo}
            </Button>
          )}
          <IconButton small label={t.close} icon="close" onClick={() => hide(toast.id)} />
        </div>
      )),
    [toasts, hide, t],
  );
  return (
    <Context value={show}>
      {children}
      <div className="toasts" role="status" aria-live="polite">
        {list}
      </div>
    </Context>
  );
}
