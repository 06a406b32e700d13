// What people read of recorded sessions of real agents.
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { builtInAgents } from "../agents/registry.ts";
import type { UniversalEvent } from "../schema/event.ts";
import { replayFile } from "../verify/replay-command.ts";
import { EventPrinter, type PrinterOptions } from "./event-printer.ts";
import { MarkdownStream } from "./markdown.ts";
import { paintFor } from "./style.ts";
import { resultLines } from "./tool-lines.ts";

type Printed = { out: string; err: string; all: string };

async function printed(agent: string, trace: string, options: PrinterOptions = {}): Promise<Printed> {
  const create = builtInAgents.find(({ id }) => id === agent)?.createTranslator;
  if (!create) throw new Error(`there is no agent ${agent}`);
  const text = { out: "", err: "", all: "" };
  const target = (name: "out" | "err") => ({
    isTTY: false,
    write: (more: string) => {
      text[name] += more;
      text.all += more;
      return true;
    },
  });
  const printer = new EventPrinter({ stdout: target("out"), stderr: target("err"), env: {} }, options);
  const file = fileURLToPath(new URL(`../../traces/${agent}/${trace}.ndjson`, import.meta.url));
  await replayFile(
    create,
    file,
    { agent, prefix: "sess" },
    { write: (line: string) => printer.print(JSON.parse(line) as UniversalEvent) },
  );
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

  it.each([
    ["claude", "2.1.325/shell-ok"],
    ["codex", "0.166.0/shell-ok"],
    ["opencode", "1.18.33/shell-ok"],
  ])(
    "of %s has what was said before a call before it, also where answers wait for the end of a paragraph",
    async (agent, trace) => {
      const { all } = await printed(agent, trace, {
        answers: () => new MarkdownStream(() => ({ paint: paintFor({ isTTY: false }, {}), columns: 80 })),
      });
      expect(all.indexOf("Running it.")).toBeGreaterThanOrEqual(0);
      expect(all.indexOf("Running it.")).toBeLessThan(all.indexOf("echo shell-output"));
    },
  );

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
