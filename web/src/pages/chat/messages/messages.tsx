import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { branch, type Conversation, type Message, siblings } from "../../../../core/conversation";
import { useText } from "../../../i18n/language";
import { chatText } from "../../../i18n/strings/chat";
import { IconButton } from "../../../ui/button";
import { AnswerPair } from "../side-by-side/answer-pair";
import { pairOf, usePairs, withPairs } from "../side-by-side/side-by-side";
import { MessageView, type Version } from "./message";
import { messageElement, onReveal } from "./reveal";

const BOTTOM_MARGIN_PX = 80;

/** The current branch. Only messages near the viewport are rendered, so the cost does not grow with its length. */
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
  const versions = useMemo(() => versionsOf(messages), [messages]);
  const pairs = usePairs();
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
  const { scrolledUp, toBottom, release } = useStickToBottom(
    scroller,
    session,
    `${shown.length} ${shown.at(-1)?.role === "user"} ${tip}`,
    virtual.getTotalSize(),
  );
  useEffect(
    () =>
      onReveal((id) => {
        release();
        const index = shown.findIndex((message) =>
          withPairs(pairs, messages, [message]).some((one) => one.id === id),
        );
        const [offset] = (!messageElement(id) && virtual.getOffsetForIndex(index, "start")) || [];
        if (scroller.current && offset !== undefined) scroller.current.scrollTop = offset;
      }),
    [shown, messages, pairs, virtual, release],
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
            const pair = message.answer && pairOf(pairs, messages, message);
            const common = { session, last: item.index === shown.length - 1, busy: live !== null, decided };
            return (
              <div
                key={item.key}
                data-index={item.index}
                data-message={pair ? undefined : message.id}
                ref={virtual.measureElement}
                className="messages-item"
                style={{ transform: `translateY(${item.start}px)` }}
              >
                {pair ? (
                  <AnswerPair {...common} pair={pair} current={message.id} agentName={agentName} />
                ) : (
                  <MessageView
                    {...common}
                    message={message}
                    version={versions.get(message.id) ?? ONLY_VERSION}
                    agentName={agentName(message.agentId)}
                  />
                )}
              </div>
            );
          })}
        </div>
      </div>
      {scrolledUp && (
        <IconButton className="to-bottom" kind="plain" icon="down" label={t.toBottom} onClick={toBottom} />
      )}
    </div>
  );
}

const everything = ({ count }: { count: number }) => Array.from({ length: count }, (_, index) => index);

/** True while printing: all messages must be rendered before the browser lays out the paper. */
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

const ONLY_VERSION: Version = { number: 1, of: 1, previous: null, next: null };

/** Only messages with more than one version are in the map. */
function versionsOf(messages: readonly Message[]): Map<string, Version> {
  const groups = new Map<string, number>();
  for (const message of messages) {
    const key = `${message.parentId} ${message.role}`;
    groups.set(key, (groups.get(key) ?? 0) + 1);
  }
  const versions = new Map<string, Version>();
  for (const message of messages) {
    if ((groups.get(`${message.parentId} ${message.role}`) ?? 0) < 2) continue;
    const all = siblings(messages, message);
    const at = all.indexOf(message);
    const [previous, next] = [all[at - 1]?.id ?? null, all[at + 1]?.id ?? null];
    versions.set(message.id, { number: at + 1, of: all.length, previous, next });
  }
  return versions;
}

/** Keeps the end in view while an answer streams, unless the reader has scrolled up; a new message scrolls down again. */
function useStickToBottom(
  scroller: React.RefObject<HTMLDivElement | null>,
  session: string,
  newest: string,
  height: number,
) {
  const stuck = useRef(true);
  const [scrolledUp, setScrolledUp] = useState(false);
  const toBottom = useCallback(() => {
    stuck.current = true;
    setScrolledUp(false);
    const element = scroller.current;
    if (element) element.scrollTop = element.scrollHeight;
  }, [scroller]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs for another session or another message
  useLayoutEffect(toBottom, [toBottom, session, newest]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs whenever the height changes
  useLayoutEffect(() => {
    if (stuck.current) toBottom();
  }, [toBottom, height]);
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const look = () => {
      const gap = element.scrollHeight - element.scrollTop - element.clientHeight;
      if (gap < BOTTOM_MARGIN_PX) stuck.current = true;
      setScrolledUp(gap > element.clientHeight / 2 && !stuck.current);
    };
    // Only user input releases it: late measurements move the end, too.
    const drag = () => {
      const gap = element.scrollHeight - element.scrollTop - element.clientHeight;
      if (gap >= BOTTOM_MARGIN_PX) stuck.current = false;
    };
    const wheel = (event: WheelEvent) => {
      if (event.deltaY < 0) stuck.current = false;
    };
    const keys = (event: KeyboardEvent) => {
      if (["PageUp", "Home", "ArrowUp"].includes(event.key)) stuck.current = false;
    };
    // The composer or a notice below may grow.
    const resize = new ResizeObserver(() => stuck.current && toBottom());
    resize.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    element.addEventListener("wheel", wheel, { passive: true });
    element.addEventListener("touchmove", drag, { passive: true });
    element.addEventListener("pointerup", drag, { passive: true });
    element.addEventListener("keydown", keys);
    return () => {
      resize.disconnect();
      element.removeEventListener("scroll", look);
      element.removeEventListener("wheel", wheel);
      element.removeEventListener("touchmove", drag);
      element.removeEventListener("pointerup", drag);
      element.removeEventListener("keydown", keys);
    };
  }, [scroller, toBottom]);
  const release = useCallback(() => {
    stuck.current = false;
  }, []);
  return { scrolledUp, toBottom, release };
}
