import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { RecordedProcess } from "./recorded-process.ts";

let processDir: string;
beforeEach(() => {
  processDir = mkdtempSync(join(tmpdir(), "dragoman-recorded-"));
});
afterEach(() => rmSync(processDir, { recursive: true, force: true }));

it("an agent that closes its stdout and lives on is ended: nobody would hear its answers", async () => {
  const script = `process.stdout.write("{}\\n", () => require("node:fs").closeSync(1)); setTimeout(() => {}, 60_000);`;
  const messages: unknown[] = [];
  const child = new RecordedProcess(
    { name: "Mute", command: process.execPath, args: ["-e", script], cwd: processDir, env: process.env, host: { processDir } },
    { as: "lines", onMessage: ({ value }) => messages.push(value) },
    { channel: null },
  );
  const { exit, error } = await child.ended;
  expect([messages, exit?.signal, error.code]).toEqual([[{}], "SIGTERM", "agent_failed_to_start"]);
});
