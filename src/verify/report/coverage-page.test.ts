import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { coveragePage, loadNativeTypes } from "./coverage-page.ts";

const PAGE = fileURLToPath(new URL("../../../docs/coverage.md", import.meta.url));

describe("the coverage page", () => {
  it("is as the agents' tables are; if not: npm run build && node scripts/coverage-page.mjs", async () => {
    expect(readFileSync(PAGE, "utf8")).toBe(coveragePage(await loadNativeTypes()));
  });

  it("keeps a type with a bar in its name in one cell", () => {
    const rows: [string, { disposition: "noted"; events: string[]; seen: "types"; note: string }][] = [
      ["a|b", { disposition: "noted", events: ["agent.notice"], seen: "types", note: "two\nlines" }],
    ];
    const page = coveragePage([{ agent: "x", tables: [{ title: "messages", rows }] }]);
    expect(page).toContain("| `a\\|b` | noted | `agent.notice` | types only | two lines |");
    expect(page).toContain("| [x](#x) | 1 | 0 | 1 | 0 | 0 | 0 | 1 |");
  });
});
