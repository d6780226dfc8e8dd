import { describe, expect, it } from "vitest";
import { count, dollars, short, shortDollars } from "./amounts";

describe("amounts", () => {
  it("shows dollars with the digits that matter", () => {
    expect(dollars(1234.5, "en")).toBe("$1,234.50");
    expect(dollars(0.00123, "en")).toBe("$0.0012");
    expect(dollars(0, "en")).toBe("$0.00");
    expect(dollars(12.3, "ja")).toBe("$12.30");
    expect(shortDollars(1500, "en")).toBe("$1.5K");
    expect(shortDollars(2, "en")).toBe("$2.00");
  });
  it("counts in both languages", () => {
    expect(count(1234567, "ja")).toBe("1,234,567");
    expect(short(1_200_000, "en")).toBe("1.2M");
    expect(short(1_200_000, "ja")).toBe("120万");
  });
});
