import { lazy, Suspense, useState } from "react";
import type { Usage } from "../../../../core/events";
import { useText } from "../../../i18n/language";
import { chatText } from "../../../i18n/strings/chat";

const UsageDetails = lazy(() => import("./usage-details"));

/** The tokens of an answer; the rest is loaded when it is opened. */
export function AnswerUsage({ usage }: { usage: Usage }) {
  const t = useText(chatText);
  const [open, setOpen] = useState(false);
  const tokens = t.tokens(usage.input_tokens, usage.output_tokens);
  return (
    <details className="tokens" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{usage.estimated ? `≈ ${tokens}` : tokens}</summary>
      {open && (
        <Suspense fallback={null}>
          <UsageDetails usage={usage} />
        </Suspense>
      )}
    </details>
  );
}
