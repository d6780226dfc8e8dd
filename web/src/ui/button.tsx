import "./button.css";
import type { ComponentProps, Ref } from "react";
import { Icon, type IconName } from "./icon";

interface Style {
  kind?: "plain" | "primary" | "danger" | "destructive" | "quiet";
  small?: boolean;
  icon?: IconName;
}

type ButtonProps = Style & Omit<ComponentProps<"button">, "ref"> & { ref?: Ref<HTMLButtonElement> };

function classNames(kind: Style["kind"], small: boolean | undefined, more = ""): string {
  return ["button", kind === "plain" ? "" : kind, small ? "small" : "", more].filter(Boolean).join(" ");
}

export function Button({ kind = "plain", small, icon, className, children, ...rest }: ButtonProps) {
  return (
    <button type="button" className={classNames(kind, small, className)} {...rest}>
      {icon && <Icon name={icon} size={small ? 16 : 18} />}
      {children}
    </button>
  );
}

/** An icon with an accessible label and tooltip. */
export function IconButton({
  label,
  icon,
  kind = "quiet",
  small,
  className,
  ...rest
}: ButtonProps & { label: string; icon: IconName }) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      className={classNames(kind, small, `icon-only ${className ?? ""}`)}
      {...rest}
    >
      <Icon name={icon} size={small ? 16 : 18} />
    </button>
  );
}

export function LinkButton({
  kind = "plain",
  small,
  icon,
  className,
  children,
  ...rest
}: Style & ComponentProps<"a">) {
  return (
    <a className={classNames(kind, small, className)} {...rest}>
      {icon && <Icon name={icon} size={small ? 16 : 18} />}
      {children}
    </a>
  );
}
