import "./field.css";
import { type ComponentProps, type KeyboardEvent, type ReactNode, type Ref, useId, useRef } from "react";
import { ImeGuard } from "../../core/ime";
import { Icon } from "./icon";

type Element = HTMLInputElement | HTMLTextAreaElement;

interface Guarded<E extends Element> {
  /** Enter that is no input method's. With `preventDefault` the browser does not act on it. */
  onEnter?: (event: KeyboardEvent<E>) => void;
  /** Escape that is no input method's. */
  onEscape?: (event: KeyboardEvent<E>) => void;
}

/** The handlers that every text field of the page has; keys an input method owns go no further. */
export function useImeGuard<E extends Element>(
  { onEnter, onEscape }: Guarded<E>,
  more?: (event: KeyboardEvent<E>) => void,
) {
  const guard = useRef(new ImeGuard());
  return {
    onCompositionStart: () => guard.current.compositionStart(),
    onCompositionEnd: (event: { timeStamp: number }) => guard.current.compositionEnd(event.timeStamp),
    onKeyDown: (event: KeyboardEvent<E>) => {
      const { key, keyCode, timeStamp } = event;
      if (guard.current.owns({ key, keyCode, timeStamp, isComposing: event.nativeEvent.isComposing })) {
        if (key === "Enter" && event.currentTarget.tagName === "INPUT") event.preventDefault();
        event.stopPropagation();
        return;
      }
      if (key === "Enter") onEnter?.(event);
      if (key === "Escape") onEscape?.(event);
      more?.(event);
    },
  };
}

type InputProps = Guarded<HTMLInputElement> &
  Omit<ComponentProps<"input">, "ref"> & { ref?: Ref<HTMLInputElement> };
type AreaProps = Guarded<HTMLTextAreaElement> &
  Omit<ComponentProps<"textarea">, "ref"> & { ref?: Ref<HTMLTextAreaElement> };

export function TextInput({ onEnter, onEscape, onKeyDown, className = "", ...rest }: InputProps) {
  const handlers = useImeGuard<HTMLInputElement>({ onEnter, onEscape }, onKeyDown);
  return <input className={`input ${className}`} autoComplete="off" {...rest} {...handlers} />;
}

export function TextArea({ onEnter, onEscape, onKeyDown, className = "", ...rest }: AreaProps) {
  const handlers = useImeGuard<HTMLTextAreaElement>({ onEnter, onEscape }, onKeyDown);
  return <textarea className={`input ${className}`} {...rest} {...handlers} />;
}

export function SearchField({ label, ...rest }: InputProps & { label: string }) {
  return (
    <div className="search-field">
      <Icon name="search" size={16} />
      <TextInput type="search" aria-label={label} placeholder={label} enterKeyHint="search" {...rest} />
    </div>
  );
}

/** A label above, help or the fault below, all bound to the control that `children` makes. */
export function Field({
  label,
  note,
  error,
  children,
}: {
  label: string;
  note?: ReactNode;
  error?: string | null;
  children: (control: {
    id: string;
    "aria-describedby": string | undefined;
    "aria-invalid": boolean;
  }) => ReactNode;
}) {
  const id = useId();
  const described = error || note ? `${id}-note` : undefined;
  return (
    <div className="field">
      <label className="field-label" htmlFor={id}>
        {label}
      </label>
      {children({ id, "aria-describedby": described, "aria-invalid": Boolean(error) })}
      {(error || note) && (
        <div id={described} className={error ? "field-error" : "field-note"}>
          {error || note}
        </div>
      )}
    </div>
  );
}
