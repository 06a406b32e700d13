import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseSettings, sessionSettings, userSettingsPath, writeSettings } from "./settings-file.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "dragoman-amp-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe("the settings of a run", () => {
  it("put the session's rules before the user's own", () => {
    const mine = { tool: "Bash", action: "allow" };
    const rules = sessionSettings({ "amp.permissions": [mine], "amp.url": "x" }, "plan")["amp.permissions"];
    expect(rules).toEqual([
      expect.objectContaining({ action: "allow" }),
      ...Array.from({ length: (rules as unknown[]).length - 3 }, () => expect.anything()),
      expect.objectContaining({ tool: "*", action: "reject" }),
      mine,
    ]);
  });

  it("ask nothing: what would ask is refused with words (may: an unanswered approval spoils the thread)", () => {
    const user = { "amp.permissions": [{ tool: "Bash", action: "ask", matches: { cmd: "x" } }] };
    const rules = sessionSettings(user, "default", [
      { tool: "Bash", action: "ask" },
      { tool: "Read", action: "allow" },
    ])["amp.permissions"];
    const message = expect.stringContaining("approval");
    expect(rules).toEqual([
      { tool: "Bash", action: "reject", matches: { cmd: "x" }, message },
      { tool: "Bash", action: "reject", message },
      { tool: "Read", action: "allow" },
    ]);
  });

  it("take back a permission for everything, unless the session is in bypass", () => {
    const user = { "amp.dangerouslyAllowAll": true };
    for (const mode of ["default", "plan", "accept_edits"] as const)
      expect(sessionSettings(user, mode)["amp.dangerouslyAllowAll"]).toBe(false);
    expect(sessionSettings(user, "bypass")).toEqual(user);
  });

  it("are a private copy; the user's file is not touched", async () => {
    const user = join(dir, "user.json");
    const text = '{\n  // mine\n  "amp.url": "https://example.com/", /* and */ "amp.tools": ["a // b",],\n}';
    writeFileSync(user, text);
    const copy = join(dir, "session", "settings.json");
    await writeSettings(copy, { AMP_SETTINGS_FILE: user }, "accept_edits", []);
    expect(JSON.parse(readFileSync(copy, "utf8"))).toMatchObject({ "amp.url": "https://example.com/", "amp.tools": ["a // b"] });
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    expect(readFileSync(user, "utf8")).toBe(text);
  });

  it("are found where Amp looks, and empty when they are broken or missing", async () => {
    expect(userSettingsPath({ HOME: "/h" })).toBe("/h/.config/amp/settings.json");
    expect(userSettingsPath({ HOME: "/h", XDG_CONFIG_HOME: "/x" })).toBe("/x/amp/settings.json");
    expect(parseSettings("{ broken")).toEqual({});
    const copy = join(dir, "settings.json");
    await writeSettings(copy, { HOME: dir }, "default", []);
    expect(JSON.parse(readFileSync(copy, "utf8"))).toEqual({ "amp.dangerouslyAllowAll": false, "amp.permissions": [] });
  });
});
