// The page of verified versions has a row for each version that conformance installs, and for no other.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { builtIn, pinnedAgents } from "../../src/verify/pinned.ts";
import { root } from "./code-blocks.ts";

const [pinned = "", older = ""] = readFileSync(join(root, "docs/versions.md"), "utf8").split("## Older versions");
const rowsOf = (text: string): string[] =>
  Array.from(
    text.matchAll(/^\| ([a-z-]+) \| ([^ |]+) \| (?:whole|short)/gm),
    ([, agent, version]) => `${agent} ${version}`,
  ).sort();

it("names the pinned versions", () => {
  const known = pinnedAgents.map(({ agent, version }) => `${agent} ${version}`);
  expect(rowsOf(pinned)).toEqual([...known, ...builtIn.map((agent) => `${agent} –`)].sort());
});

it("names the older versions", () => {
  const known = pinnedAgents.flatMap(({ agent, older = [] }) => older.map((version) => `${agent} ${version}`));
  expect(rowsOf(older)).toEqual(known.sort());
});
