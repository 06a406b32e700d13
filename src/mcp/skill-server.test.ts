import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { answer, type CatalogEntry } from "./skill-server.ts";

let folder: string;
let skills: CatalogEntry[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "skill-server-"));
  const directory = join(folder, "heron");
  mkdirSync(directory);
  writeFileSync(join(directory, "SKILL.md"), "---\nname: heron\ndescription: d\n---\n\nStand on one leg.\n");
  skills = [{ name: "heron", description: "What herons\n do", path: join(directory, "SKILL.md"), directory }];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const call = (name: unknown, tool = "use_skill") =>
  answer({ id: 1, method: "tools/call", params: { name: tool, arguments: { name } } }, skills) as {
    result: { isError?: boolean; content: { text: string }[] };
  };

describe("the MCP server for skills", () => {
  it("offers one tool whose description is the catalog, and gives a skill without its frontmatter", () => {
    const listed = answer({ id: "a", method: "tools/list" }, skills) as { result: { tools: { description: string }[] } };
    expect(listed.result.tools).toHaveLength(1);
    expect(listed.result.tools[0]?.description).toContain("- heron: What herons do");
    const { result } = call("heron");
    expect(result.content[0]?.text).toBe(
      `<skill_content name="heron" directory="${join(folder, "heron")}">\nStand on one leg.\n</skill_content>`,
    );
  });

  it("refuses what it does not have, as an answer; unknown methods, as an error; notifications have no answer", () => {
    expect(call("stork").result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("There are: heron") }],
    });
    expect(call("heron", "rm").result.isError).toBe(true);
    expect(call(undefined).result.isError).toBe(true);
    rmSync(join(folder, "heron"), { recursive: true });
    expect(call("heron").result.isError).toBe(true);
    expect(answer({ id: 2, method: "resources/list" }, skills)).toMatchObject({ error: { code: -32601 } });
    expect(answer({ method: "notifications/initialized" }, skills)).toBeNull();
  });

  it("is a program: it answers line by line, passes over garbage, and ends with its input", async () => {
    const catalog = join(folder, "catalog.json");
    writeFileSync(catalog, JSON.stringify(skills));
    const program = fileURLToPath(new URL("../../dist/mcp/skill-server.js", import.meta.url));
    const child = spawn(process.execPath, [program, catalog], { stdio: ["pipe", "pipe", "inherit"] });
    const lines: string[] = [];
    createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
    child.stdin.end(
      `no json\n3\n${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: {} })}\n{"id":2,"method":"ping"}\n`,
    );
    const code = await new Promise((resolve) => child.on("close", resolve));
    expect([code, lines.map((line) => (JSON.parse(line) as { id: number }).id)]).toEqual([0, [1, 2]]);
  });
});
