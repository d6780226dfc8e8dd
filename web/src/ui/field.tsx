import "./field.css";
import { type ComponentProps, type KeyboardEvent, type ReactNode, type Ref, useId, useRef } from "react";
import { CompositionTracker } from "../../core/ime";
import { Icon } from "./icon";

type Element = HTMLInputElement | HTMLTextAreaElement;

interface KeyHandlers<E extends Element> {
  /** Enter outside a conversion of an input method. */
  onEnter?: (event: KeyboardEvent<E>) => void;
  /** Escape outside a conversion of an input method. */
  onEscape?: (event: KeyboardEvent<E>) => void;
}

/** Event handlers for text fields; keys that the input method handles do not propagate. */
export function useComposition<E extends Element>(
  { onEnter, onEscape }: KeyHandlers<E>,
  more?: (event: KeyboardEvent<E>) => void,
) {
  const tracker = useRef(new CompositionTracker());
  return {
    onCompositionStart: () => tracker.current.compositionStart(),
    onCompositionEnd: (event: { timeStamp: number }) => tracker.current.compositionEnd(event.timeStamp),
    onKeyDown: (event: KeyboardEvent<E>) => {
      const { key, keyCode, timeStamp } = event;
      if (tracker.current.owns({ key, keyCode, timeStamp, isComposing: event.nativeEvent.isComposing })) {
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

type InputProps = KeyHandlers<HTMLInputElement> &
  Omit<ComponentProps<"input">, "ref"> & { ref?: Ref<HTMLInputElement> };
type AreaProps = KeyHandlers<HTMLTextAreaElement> &
  Omit<ComponentProps<"textarea">, "ref"> & { ref?: Ref<HTMLTextAreaElement> };

export function TextInput({ onEnter, onEscape, onKeyDown, className = "", ...rest }: InputProps) {
  const handlers = useComposition<HTMLInputElement>({ onEnter, onEscape }, onKeyDown);
  return <input className={`input ${className}`} autoComplete="off" {...rest} {...handlers} />;
}

export function TextArea({ onEnter, onEscape, onKeyDown, className = "", ...rest }: AreaProps) {
  const handlers = useComposition<HTMLTextAreaElement>({ onEnter, onEscape }, onKeyDown);
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

/** A labelled control with a note or an error below; `children` renders the control with the given attributes. */
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
