import { Component, type ReactNode, useEffect, useState } from "react";
import { answers, houseIsBack } from "../away";
import { useText } from "../i18n/language";
import { shellText } from "../i18n/shell";
import { Button } from "./button";
import { Notice } from "./feedback";
import { MissingPart } from "./part";

interface Props {
  children: ReactNode;
  fallback?: ReactNode;
  /** What is shown: something else there gets another chance. */
  place?: string;
}

/** A fault in one part leaves the others standing. */
export class Boundary extends Component<Props, { error: unknown; failed: boolean }> {
  override state = { error: null, failed: false };

  static getDerivedStateFromError(error: unknown) {
    return { error, failed: true };
  }

  override componentDidUpdate(before: Props) {
    if (this.state.failed && before.place !== this.props.place) this.setState({ error: null, failed: false });
  }

  override render() {
    if (!this.state.failed) return this.props.children;
    return this.props.fallback ?? <Failed error={this.state.error} />;
  }
}

function Failed({ error }: { error: unknown }) {
  return <div className="page-body">{error instanceof MissingPart ? <Missing /> : <Crash />}</div>;
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
 * A part that could not be loaded, as the house is away. Browsers remember that and do not ask for it again, so the
 * page begins anew when the house is back. If it is there, beginning anew might go on for ever: the user decides.
 */
function Missing() {
  const t = useText(shellText);
  const [away, setAway] = useState<boolean | null>(null);
  useEffect(() => {
    let here = true;
    void answers().then(async (yes) => {
      if (!here) return;
      setAway(!yes);
      if (yes) return;
      await houseIsBack();
      if (here) location.reload();
    });
    return () => {
      here = false;
    };
  }, []);
  if (away === null) return null;
  return away ? <Notice kind="bad">{t.offline}</Notice> : <Crash />;
}
