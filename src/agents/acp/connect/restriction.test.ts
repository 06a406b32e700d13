import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { AgentHost } from "../../contract.ts";
import { geminiUse, qwenUse } from "./restriction.ts";

let stateDir: string;
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), "restriction-"));
});
afterEach(() => rmSync(stateDir, { recursive: true, force: true }));

it.each([
  ["gemini", geminiUse, "GEMINI_CLI_SYSTEM_SETTINGS_PATH", "GEMINI_CLI_TRUSTED_FOLDERS_PATH"],
  ["qwen", qwenUse, "QWEN_CODE_SYSTEM_SETTINGS_PATH", "QWEN_CODE_TRUSTED_FOLDERS_PATH"],
])("%s trusts no folder, whatever version it is, and keeps what the administrator has set", async (_, use, settings, folders) => {
  const theirs = join(stateDir, "administrator.json");
  writeFileSync(theirs, JSON.stringify({ security: { auth: "theirs", folderTrust: { enabled: false } }, tools: { one: 1 } }));
  const env = await use.restriction?.env?.({ [settings]: theirs }, { stateDir } as AgentHost);
  const read = (name: string): unknown => JSON.parse(readFileSync(env?.[name] ?? "", "utf8"));
  expect(read(settings)).toEqual({ security: { auth: "theirs", folderTrust: { enabled: true } }, tools: { one: 1 } });
  expect(read(folders)).toEqual({ "/": "DO_NOT_TRUST" });
  expect(JSON.parse(readFileSync(theirs, "utf8"))).toMatchObject({ security: { folderTrust: { enabled: false } } });
});
