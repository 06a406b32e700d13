import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AgentHost } from "../../contract.ts";
import { offerSettings, type SettingsFile } from "./settings-file.ts";

describe("a settings file of ours", () => {
  let stateDir: string;
  let file: SettingsFile;
  beforeEach(() => {
    stateDir = mkdtempSync(join(tmpdir(), "settings-file-"));
    file = { variable: "THEIR_DEFAULTS", insteadOf: [join(stateDir, "theirs.json")], content: { a: { b: false } } };
  });
  afterEach(() => rmSync(stateDir, { recursive: true, force: true }));
  const offer = (env: Record<string, string> = {}, offered: SettingsFile | undefined = file) =>
    offerSettings(offered, hostOf(stateDir), env);

  it("is written, whole and again the same, and the agent is pointed to it", async () => {
    const [first, second] = await Promise.all([offer(), offer()]);
    expect(second).toEqual(first);
    expect(JSON.parse(readFileSync(first.THEIR_DEFAULTS ?? "", "utf8"))).toEqual({ a: { b: false } });
  });

  it("gives way to a variable of the user's and to a file of the machine's", async () => {
    expect(await offer({ THEIR_DEFAULTS: "/etc/x.json" })).toEqual({});
    writeFileSync(join(stateDir, "theirs.json"), "{}");
    expect(await offer()).toEqual({});
  });
});

const hostOf = (stateDir: string): AgentHost => ({
  resolveCommand: async () => ({ command: "none", args: [] }),
  environment: (extra) => extra,
  settings: {},
  stateDir,
  processDir: stateDir,
  version: "0.0.0",
  openChannel: () => {
    throw new Error("not used");
  },
  log: () => {},
});
