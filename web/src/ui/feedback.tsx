import "./feedback.css";
import type { ReactNode } from "react";
import { useText } from "../i18n/language";
import { shellText } from "../i18n/strings/shell";
import { ErrorText } from "../i18n/translate";
import { Button } from "./button";
import { Icon, type IconName } from "./icon";

/** Grey bars while something loads, with a text for screen readers. */
export function Skeletons({
  lines = 3,
  height = "1.25rem",
  label,
}: {
  lines?: number;
  height?: string;
  label?: string;
}) {
  const t = useText(shellText);
  return (
    <div className="skeletons" role="status">
      <span className="hidden-text">{label ?? t.loading}</span>
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the bars are all alike
        <div key={line} className="skeleton" style={{ height, width: `${100 - ((line * 17) % 40)}%` }} />
      ))}
    </div>
  );
}

const ICONS = { info: "info", good: "check", warn: "warn", bad: "warn" } as const satisfies Record<
  string,
  IconName
>;

export function Notice({
  kind = "info",
  children,
  action,
}: {
  kind?: keyof typeof ICONS;
  children: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className={`notice ${kind}`} role={kind === "bad" ? "alert" : undefined}>
      <Icon name={ICONS[kind]} />
      <div className="notice-body">
        <div>{children}</div>
        {action}
      </div>
    </div>
  );
}

/** An error, with a button to try again where it concerns a query. */
export function ErrorNotice({ error, retry }: { error: unknown; retry?: () => void }) {
  const t = useText(shellText);
  return (
    <Notice
      kind="bad"
      action={
        retry && (
          <Button small icon="refresh" onClick={retry}>
            {t.retry}
          </Button>
        )
      }
    >
      <ErrorText error={error} retried={retry !== undefined} />
    </Notice>
  );
}

export function Empty({
  icon,
  title,
  children,
  action,
}: {
  icon: IconName;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className="empty">
      <Icon name={icon} size={32} />
      <h2>{title}</h2>
      {children && <div>{children}</div>}
      {action}
    </div>
  );
}

/** A page that scrolls, with its heading and the buttons beside it. */
export function Page({
  title,
  lead,
  actions,
  children,
}: {
  title: string;
  lead?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  return (
    <div className="page">
      <div className="page-body">
        <div className="page-head">
          <h1>{title}</h1>
          {actions}
        </div>
        {lead && <p className="page-lead">{lead}</p>}
        {children}
      </div>
    </div>
  );
}
