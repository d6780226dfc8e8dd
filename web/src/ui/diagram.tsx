import "./diagram.css";
import { useEffect, useRef, useState } from "react";
import { apiUrl } from "../api";
import { useText } from "../i18n/language";
import { markdownText } from "../i18n/strings/markdown";
import { useDark } from "./dark";

const RENDER_TIMEOUT_MS = 15_000;
const MAX_HEIGHT_PX = 4_000;

interface FrameMessage {
  ready?: true;
  height?: number;
  failed?: true;
}

/** A Mermaid diagram, rendered in a sandboxed frame. `onFail` is called where the source cannot be rendered. */
export function Diagram({ source, onFail }: { source: string; onFail: () => void }) {
  const t = useText(markdownText);
  const frame = useRef<HTMLIFrameElement>(null);
  const dark = useDark();
  const [ready, setReady] = useState(false);
  const [height, setHeight] = useState<number | null>(null);
  const failed = useRef(onFail);
  failed.current = onFail;
  useEffect(() => {
    const receive = (event: MessageEvent) => {
      if (event.source !== frame.current?.contentWindow) return;
      const { ready, height } = event.data as FrameMessage;
      if (ready) setReady(true);
      else if (typeof height === "number") setHeight(Math.min(height, MAX_HEIGHT_PX));
      else failed.current();
    };
    addEventListener("message", receive);
    return () => removeEventListener("message", receive);
  }, []);
  useEffect(() => {
    // A sandboxed frame has no origin to name; the message goes to this one window.
    if (ready) frame.current?.contentWindow?.postMessage({ source, dark }, "*");
  }, [ready, source, dark]);
  const drawn = height !== null;
  useEffect(() => {
    if (drawn) return;
    const timer = setTimeout(() => failed.current(), RENDER_TIMEOUT_MS);
    return () => clearTimeout(timer);
  }, [drawn]);
  return (
    <div className="diagram">
      {!drawn && <p role="status">{t.diagramDrawing}</p>}
      <iframe
        ref={frame}
        title={t.diagram}
        src={apiUrl("diagram.html")}
        sandbox="allow-scripts"
        referrerPolicy="no-referrer"
        style={{ height: height ?? 1 }}
      />
    </div>
  );
}
