import { Component, type ReactNode, useEffect, useState } from "react";
import { isReachable, reconnected } from "../connectivity";
import { useText } from "../i18n/language";
import { shellText } from "../i18n/strings/shell";
import { Button } from "./button";
import { Notice } from "./feedback";
import { ChunkLoadError } from "./lazy";

interface Props {
  children: ReactNode;
  fallback?: ReactNode;
  /** Renders the children again when it changes. */
  resetKey?: string;
}

/** Keeps a rendering error in one part from taking down the others. */
export class ErrorBoundary extends Component<Props, { error: unknown; failed: boolean }> {
  override state = { error: null, failed: false };

  static getDerivedStateFromError(error: unknown) {
    return { error, failed: true };
  }

  override componentDidUpdate(before: Props) {
    if (this.state.failed && before.resetKey !== this.props.resetKey)
      this.setState({ error: null, failed: false });
  }

  override render() {
    if (!this.state.failed) return this.props.children;
    return this.props.fallback ?? <Failed error={this.state.error} />;
  }
}

function Failed({ error }: { error: unknown }) {
  return <div className="page-body">{error instanceof ChunkLoadError ? <NotLoaded /> : <Crash />}</div>;
}

export function Crash() {
  const t = useText(shellText);
  return (
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
  );
}

/**
 * A chunk could not be loaded. Browsers cache the failed import, so the page reloads once the server is reachable
 * again. If the server is reachable now, a reload might loop forever, and the user decides.
 */
function NotLoaded() {
  const t = useText(shellText);
  const [offline, setOffline] = useState<boolean | null>(null);
  useEffect(() => {
    let mounted = true;
    void isReachable().then(async (reachable) => {
      if (!mounted) return;
      setOffline(!reachable);
      if (reachable) return;
      await reconnected();
      if (mounted) location.reload();
    });
    return () => {
      mounted = false;
    };
  }, []);
  if (offline === null) return null;
  return offline ? <Notice kind="bad">{t.offline}</Notice> : <Crash />;
}
