import "./markdown.css";
import { useState } from "react";
import { chatText } from "../../i18n/chat";
import { useText } from "../../i18n/language";
import { Button } from "../../ui/button";
import { Diagram } from "../../ui/diagram";
import { Code } from "./code";

/** A diagram is its source until somebody wants to see it; what cannot be drawn stays source. */
export function DiagramCode({ text }: { text: string }) {
  const t = useText(chatText);
  const [look, setLook] = useState<"source" | "picture" | "failed">("source");
  const picture = look === "picture";
  return (
    <Code
      text={text}
      language="mermaid"
      action={
        <Button
          small
          kind="quiet"
          icon={picture ? "edit" : "eye"}
          onClick={() => setLook(picture ? "source" : "picture")}
        >
          {picture ? t.diagramSource : t.diagramShow}
        </Button>
      }
      instead={picture && <Diagram source={text} onFail={() => setLook("failed")} />}
      note={look === "failed" && t.diagramFailed}
    />
  );
}
