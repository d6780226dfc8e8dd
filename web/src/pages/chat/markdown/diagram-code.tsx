import "./markdown.css";
import { useState } from "react";
import { useText } from "../../../i18n/language";
import { markdownText } from "../../../i18n/strings/markdown";
import { Button } from "../../../ui/button";
import { Diagram } from "../../../ui/diagram";
import { Code } from "./code";

/** A Mermaid block: its source, and on request the diagram. Falls back to the source where it cannot be rendered. */
export function DiagramCode({ text }: { text: string }) {
  const t = useText(markdownText);
  const [view, setView] = useState<"source" | "diagram" | "failed">("source");
  const drawn = view === "diagram";
  return (
    <Code
      text={text}
      language="mermaid"
      action={
        <Button
          small
          kind="quiet"
          icon={drawn ? "edit" : "eye"}
          onClick={() => setView(drawn ? "source" : "diagram")}
        >
          {drawn ? t.diagramSource : t.diagramShow}
        </Button>
      }
      instead={drawn && <Diagram source={text} onFail={() => setView("failed")} />}
      note={view === "failed" && t.diagramFailed}
    />
  );
}
