import { describe, expect, it } from "vitest";
import { CompositionTracker } from "./ime";

const enter = (timeStamp: number, more = {}) => ({ key: "Enter", timeStamp, ...more });

describe("Enter while Japanese is typed", () => {
  it("belongs to the input method in Chromium's order: key, then compositionend", () => {
    const tracker = new CompositionTracker();
    tracker.compositionStart();
    expect(tracker.owns(enter(100, { isComposing: true, keyCode: 229 }))).toBe(true);
    tracker.compositionEnd(101);
    expect(tracker.owns(enter(400))).toBe(false);
  });

  it("belongs to the input method in WebKit's order: compositionend, then key", () => {
    const tracker = new CompositionTracker();
    tracker.compositionStart();
    tracker.compositionEnd(100);
    expect(tracker.owns(enter(102))).toBe(true);
    expect(tracker.owns(enter(103, { keyCode: 229 }))).toBe(true);
    expect(tracker.owns(enter(400))).toBe(false);
  });

  it("is an ordinary key where nothing is composed", () => {
    expect(new CompositionTracker().owns(enter(5))).toBe(false);
  });

  it("does not hold back other keys after a composition", () => {
    const tracker = new CompositionTracker();
    tracker.compositionEnd(100);
    expect(tracker.owns({ key: "a", timeStamp: 101 })).toBe(false);
  });
});
