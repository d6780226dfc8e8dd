import "./diagram.css";
import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { address } from "../api";
import { chatText } from "../i18n/chat";
import { useText } from "../i18n/language";
import { useStored } from "../stored";
import { theme } from "../theme";

const PATIENCE_MS = 15_000;
const HIGHEST = 4_000;

interface Said {
  ready?: true;
  height?: number;
  failed?: true;
}

/** A Mermaid diagram, drawn in a frame that has no rights at all. `onFail` where it is none, or none that is known. */
export function Diagram({ source, onFail }: { source: string; onFail: () => void }) {
  const t = useText(chatText);
  const frame = useRef<HTMLIFrameElement>(null);
  const dark = useDark();
  const [ready, setReady] = useState(false);
  const [height, setHeight] = useState<number | null>(null);
  const failed = useRef(onFail);
  failed.current = onFail;
  useEffect(() => {
    const hear = (event: MessageEvent) => {
      if (event.source !== frame.current?.contentWindow) return;
      const { ready, height } = event.data as Said;
      if (ready) setReady(true);
      else if (typeof height === "number") setHeight(Math.min(height, HIGHEST));
      else failed.current();
    };
    addEventListener("message", hear);
    return () => removeEventListener("message", hear);
  }, []);
  useEffect(() => {
    // A frame without an origin has no address to name: "*" reaches nobody but this window.
    if (ready) frame.current?.contentWindow?.postMessage({ source, dark }, "*");
  }, [ready, source, dark]);
  const drawn = height !== null;
  useEffect(() => {
    if (drawn) return;
    const timer = setTimeout(() => failed.current(), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [drawn]);
  return (
    <div className="diagram">
      {!drawn && <p role="status">{t.diagramDrawing}</p>}
      <iframe
        ref={frame}
        title={t.diagram}
        src={address("diagram.html")}
        sandbox="allow-scripts"
        referrerPolicy="no-referrer"
        style={{ height: height ?? 1 }}
      />
    </div>
  );
}

const DARK = "(prefers-color-scheme: dark)";

function useDark(): boolean {
  const wanted = useStored(theme);
  const system = useSyncExternalStore(
    (changed) => {
      const query = matchMedia(DARK);
      query.addEventListener("change", changed);
      return () => query.removeEventListener("change", changed);
    },
    () => matchMedia(DARK).matches,
  );
  return wanted === "auto" ? system : wanted === "dark";
}
