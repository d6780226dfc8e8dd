import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import type { Conversation } from "../../../core/chats";
import { branch, type Message, siblings } from "../../../core/conversation";
import { chatText } from "../../i18n/chat";
import { useText } from "../../i18n/language";
import { IconButton } from "../../ui/button";
import { MessageView, type Place } from "./message";

const NEAR = 80;

/** The branch on the screen. Only what is near the window exists, so ten messages and ten thousand cost the same. */
export function Messages({
  session,
  conversation,
  agentName,
}: {
  session: string;
  conversation: Conversation;
  agentName: (id: string | null) => string;
}) {
  const t = useText(chatText);
  const { messages, tip, live, decided } = conversation;
  const shown = useMemo(() => branch(messages, tip), [messages, tip]);
  const places = useMemo(() => placesOf(messages), [messages]);
  const scroller = useRef<HTMLDivElement>(null);
  const printing = usePrinting();
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (shown[index]?.role === "user" ? 110 : 260),
    getItemKey: (index) => shown[index]?.id ?? index,
    overscan: 4,
    rangeExtractor: printing ? everything : defaultRangeExtractor,
    useFlushSync: false,
  });
  const { away, toBottom } = useStick(
    scroller,
    session,
    `${shown.length} ${shown.at(-1)?.role === "user"} ${tip}`,
    virtual.getTotalSize(),
  );
  return (
    <div className="messages-frame">
      <div
        className="messages"
        ref={scroller}
        role="log"
        aria-live="off"
        aria-label={t.conversation}
        tabIndex={0}
      >
        <div className="messages-all" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const message = shown[item.index];
            if (!message) return null;
            return (
              <div
                key={item.key}
                data-index={item.index}
                ref={virtual.measureElement}
                className="messages-item"
                style={{ transform: `translateY(${item.start}px)` }}
              >
                <MessageView
                  session={session}
                  message={message}
                  place={places.get(message.id) ?? ALONE}
                  agentName={agentName(message.agentId)}
                  last={item.index === shown.length - 1}
                  busy={live !== null}
                  decided={decided}
                />
              </div>
            );
          })}
        </div>
      </div>
      {away && (
        <IconButton className="to-bottom" kind="plain" icon="down" label={t.toBottom} onClick={toBottom} />
      )}
    </div>
  );
}

const everything = ({ count }: { count: number }) => Array.from({ length: count }, (_, index) => index);

/** Paper has no window that could be near something: all of it must exist before the browser looks. */
function usePrinting(): boolean {
  const [printing, setPrinting] = useState(false);
  useEffect(() => {
    const begin = () => flushSync(() => setPrinting(true));
    const end = () => setPrinting(false);
    addEventListener("beforeprint", begin);
    addEventListener("afterprint", end);
    return () => {
      removeEventListener("beforeprint", begin);
      removeEventListener("afterprint", end);
    };
  }, []);
  return printing;
}

const ALONE: Place = { number: 1, of: 1, previous: null, next: null };

/** Only the messages that have others in their place. */
function placesOf(messages: readonly Message[]): Map<string, Place> {
  const groups = new Map<string, number>();
  for (const message of messages) {
    const key = `${message.parentId} ${message.role}`;
    groups.set(key, (groups.get(key) ?? 0) + 1);
  }
  const places = new Map<string, Place>();
  for (const message of messages) {
    if ((groups.get(`${message.parentId} ${message.role}`) ?? 0) < 2) continue;
    const all = siblings(messages, message);
    const at = all.indexOf(message);
    const [previous, next] = [all[at - 1]?.id ?? null, all[at + 1]?.id ?? null];
    places.set(message.id, { number: at + 1, of: all.length, previous, next });
  }
  return places;
}

/** Stays at the end while the answer grows, unless the reader has gone up; a new message brings the reader back. */
function useStick(
  scroller: React.RefObject<HTMLDivElement | null>,
  session: string,
  news: string,
  height: number,
) {
  const stuck = useRef(true);
  const [away, setAway] = useState(false);
  const toBottom = useCallback(() => {
    stuck.current = true;
    setAway(false);
    const element = scroller.current;
    if (element) element.scrollTop = element.scrollHeight;
  }, [scroller]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another session or another message is the news
  useLayoutEffect(toBottom, [toBottom, session, news]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: growth is the news
  useLayoutEffect(() => {
    if (stuck.current) toBottom();
  }, [toBottom, height]);
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const look = () => {
      const gap = element.scrollHeight - element.scrollTop - element.clientHeight;
      if (gap < NEAR) stuck.current = true;
      setAway(gap > element.clientHeight / 2 && !stuck.current);
    };
    // Only a hand lets go: sizes that are measured late move the end, too.
    const letGo = () => {
      const gap = element.scrollHeight - element.scrollTop - element.clientHeight;
      if (gap >= NEAR) stuck.current = false;
    };
    const wheel = (event: WheelEvent) => {
      if (event.deltaY < 0) stuck.current = false;
    };
    const keys = (event: KeyboardEvent) => {
      if (["PageUp", "Home", "ArrowUp"].includes(event.key)) stuck.current = false;
    };
    // What is under it may grow: the field, or a notice.
    const frame = new ResizeObserver(() => stuck.current && toBottom());
    frame.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    element.addEventListener("wheel", wheel, { passive: true });
    element.addEventListener("touchmove", letGo, { passive: true });
    element.addEventListener("pointerup", letGo, { passive: true });
    element.addEventListener("keydown", keys);
    return () => {
      frame.disconnect();
      element.removeEventListener("scroll", look);
      element.removeEventListener("wheel", wheel);
      element.removeEventListener("touchmove", letGo);
      element.removeEventListener("pointerup", letGo);
      element.removeEventListener("keydown", keys);
    };
  }, [scroller, toBottom]);
  return { away, toBottom };
}
