import { Component, type ReactNode } from "react";
import { useText } from "../i18n/language";
import { shellText } from "../i18n/shell";
import { Button } from "./button";
import { Notice } from "./feedback";

/** A fault in one part leaves the others standing. */
export class Boundary extends Component<{ children: ReactNode; fallback?: ReactNode }, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    return this.state.failed ? (this.props.fallback ?? <Crash />) : this.props.children;
  }
}

function Crash() {
  const t = useText(shellText);
  return (
    <div className="page-body">
      <Notice
        kind="bad"
        action={
          <Button small onClick={() => location.reload()}>
            {t.reload}
          </Button>
        }
      >
        {t.crashed}
      </Notice>
    </div>
  );
}
