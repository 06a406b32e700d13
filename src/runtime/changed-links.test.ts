// A link that is changed between the permission and the effect: what was allowed was another file.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { startModelServer } from "../verify/model-server/model-server.ts";
import { scenario } from "../verify/model-server/test-client.ts";
import { recordsOf } from "./records.ts";
import { openLoop } from "./test-loop.ts";
import { applyPatchTool } from "./tools/apply-patch.ts";
import { editTool } from "./tools/edit.ts";
import { readTool } from "./tools/read.ts";
import { grepTool } from "./tools/search.ts";
import type { AnyTool } from "./tools/tool.ts";
import { writeTool } from "./tools/write.ts";

let place: string;
beforeEach(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), "dragoman-links-")));
  for (const name of ["work/inside", "outside"]) mkdirSync(join(place, name), { recursive: true });
  for (const name of ["work/inside", "outside"]) writeFileSync(join(place, name, "a.txt"), `text of ${name}\n`);
  link("inside");
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

const link = (to: string): void => {
  rmSync(join(place, "work/link"), { force: true });
  symlinkSync(to, join(place, "work/link"));
};

const PATCH = "*** Begin Patch\n*** Update File: link/a.txt\n@@\n-text of outside\n+changed\n*** End Patch";

it.each<{ tool: AnyTool; input: object }>([
  { tool: readTool, input: { path: "link/a.txt" } },
  { tool: grepTool, input: { pattern: "text", path: "link" } },
  { tool: writeTool, input: { path: "link/a.txt", content: "changed" } },
  { tool: writeTool, input: { path: "link/new.txt", content: "changed" } },
  { tool: editTool, input: { path: "link/a.txt", edits: [{ old: "text", new: "changed" }] } },
  { tool: applyPatchTool, input: { patch: PATCH } },
])("is not followed where nobody allowed it to lead: $tool.name $input", async ({ tool, input }) => {
  const call = { blocks: [{ type: "tool" as const, native_name: tool.name, input: { ...input } }] };
  const server = await startModelServer({
    scenarios: [scenario("s", [call, { blocks: [{ type: "text", text: "ok" }] }])],
    default: "s",
  });
  const asked: unknown[] = [];
  const { loop, journal } = await openLoop({
    baseUrl: `${server.url}/v1`,
    tools: [tool],
    override: {
      directory: join(place, "work"),
      asker: {
        ask: async ({ subject, input_digest }) => {
          asked.push(subject);
          link("../outside");
          return { decision: "allow", input_digest };
        },
      },
    },
  });
  await loop.prompt("go");
  await server.close();
  expect(JSON.stringify(asked)).toContain(join(place, "work/inside"));
  expect(recordsOf(journal.records, "call.finished")).toMatchObject([
    { is_error: true, output: expect.stringContaining("leads elsewhere than when this was allowed") },
  ]);
  expect(readdirSync(join(place, "outside"))).toEqual(["a.txt"]);
  expect(readFileSync(join(place, "outside/a.txt"), "utf8")).toBe("text of outside\n");
});
