import "./button.css";
import type { ComponentProps, Ref } from "react";
import { Icon, type IconName } from "./icon";

interface Look {
  kind?: "plain" | "primary" | "danger" | "quiet";
  small?: boolean;
  icon?: IconName;
}

type ButtonProps = Look & Omit<ComponentProps<"button">, "ref"> & { ref?: Ref<HTMLButtonElement> };

function look(kind: Look["kind"], small: boolean | undefined, more = ""): string {
  return ["button", kind === "plain" ? "" : kind, small ? "small" : "", more].filter(Boolean).join(" ");
}

export function Button({ kind = "plain", small, icon, className, children, ...rest }: ButtonProps) {
  return (
    <button type="button" className={look(kind, small, className)} {...rest}>
      {icon && <Icon name={icon} size={small ? 16 : 18} />}
      {children}
    </button>
  );
}

/** A picture for those who see it, `label` for everybody. */
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
      className={look(kind, small, `icon-only ${className ?? ""}`)}
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
}: Look & ComponentProps<"a">) {
  return (
    <a className={look(kind, small, className)} {...rest}>
      {icon && <Icon name={icon} size={small ? 16 : 18} />}
      {children}
    </a>
  );
}
