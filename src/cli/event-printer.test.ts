// What people read of recorded sessions of real agents.
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { builtInAgents } from "../agents/registry.ts";
import type { UniversalEvent } from "../schema/event.ts";
import { replayFile } from "../verify/replay-command.ts";
import { EventPrinter } from "./event-printer.ts";
import { resultLines } from "./tool-lines.ts";

async function printed(agent: string, trace: string): Promise<{ out: string; err: string }> {
  const create = builtInAgents.find(({ id }) => id === agent)?.createTranslator;
  if (!create) throw new Error(`there is no agent ${agent}`);
  const text = { out: "", err: "" };
  const target = (name: "out" | "err") => ({
    isTTY: false,
    write: (more: string) => {
      text[name] += more;
      return true;
    },
  });
  const printer = new EventPrinter({ stdout: target("out"), stderr: target("err"), env: {} });
  const file = fileURLToPath(new URL(`../../traces/${agent}/${trace}.ndjson`, import.meta.url));
  const options = { agent, prefix: "sess" };
  await replayFile(create, file, options, { write: (line: string) => printer.print(JSON.parse(line) as UniversalEvent) });
  printer.endLine();
  return text;
}

describe("a session on the terminal", () => {
  it.each([
    ["claude", "2.1.325/shell-ok", "Bash"],
    ["codex", "0.166.0/shell-ok", "commandExecution"],
    ["opencode", "1.18.33/shell-ok", "bash"],
  ])("says which command %s runs, once, with the end of its output", async (agent, trace, tool) => {
    const { out, err } = await printed(agent, trace);
    expect(out).toBe("Running it.\nThe command worked.\n");
    expect(err).toBe(`• ${tool}: echo shell-output && echo to-stderr 1>&2\n    shell-output\n    to-stderr\n`);
  });

  it("says which file is read, and not what is in it", async () => {
    expect((await printed("claude", "2.1.325/read")).err).toMatch(/^• Read: \S+\n$/);
  });

  it("says how a command failed", async () => {
    expect((await printed("claude", "2.1.325/shell-fail")).err).toMatch(/^• Bash: .+\n(?: {4}.+\n)+ {4}exit \d+\n$/);
  });

  it("says that a tool failed also where it has no exit code and nothing is coloured", () => {
    const result = { type: "tool_result" as const, call_id: "1", output: "There is no such folder", is_error: true };
    expect(resultLines(result, "edit")).toEqual(["There is no such folder", "failed"]);
    expect(resultLines({ ...result, is_error: false }, "shell")).toEqual(["There is no such folder"]);
  });
});
