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
  const decision = (mode: "default" | "plan" | "accept_edits", tool: string, own: unknown[] = []) => {
    const rules = sessionSettings({ "amp.permissions": own }, mode)["amp.permissions"] as {
      tool: string;
      matches?: unknown;
      action: string;
    }[];
    return rules.find((rule) => rule.matches === undefined && (rule.tool === tool || rule.tool === "*"))?.action;
  };

  it("decide every tool: Amp cannot ask, so what a mode would ask for is refused", () => {
    for (const mode of ["default", "plan", "accept_edits"] as const) {
      expect(decision(mode, "Read")).toBe("allow");
      expect(decision(mode, "Bash")).toBe("reject");
      expect(decision(mode, "mcp__lab__tool")).toBe("reject");
      expect(decision(mode, "create_file")).toBe(mode === "accept_edits" ? "allow" : "reject");
    }
  });

  it("the person's own rules count in default, never in plan; what they reject is rejected always", () => {
    const mine = [
      { tool: "Bash", action: "allow" },
      { tool: "create_file", action: "reject" },
    ];
    expect([decision("default", "Bash", mine), decision("plan", "Bash", mine)]).toEqual(["allow", "reject"]);
    expect(decision("accept_edits", "create_file", mine)).toBe("reject");
  });

  it("ask nothing: what would ask is refused with words (may: an unanswered approval spoils the thread)", () => {
    const user = { "amp.permissions": [{ tool: "Bash", action: "ask", matches: { cmd: "x" } }] };
    const [first] = sessionSettings(user, "default")["amp.permissions"] as unknown[];
    expect(first).toEqual({
      tool: "Bash",
      action: "reject",
      matches: { cmd: "x" },
      message: expect.stringContaining("approval"),
    });
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
    await writeSettings(copy, { AMP_SETTINGS_FILE: user }, "accept_edits");
    expect(JSON.parse(readFileSync(copy, "utf8"))).toMatchObject({ "amp.url": "https://example.com/", "amp.tools": ["a // b"] });
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    expect(readFileSync(user, "utf8")).toBe(text);
  });

  it("are found where Amp looks, and empty when they are broken or missing", async () => {
    expect(userSettingsPath({ HOME: "/h" })).toBe("/h/.config/amp/settings.json");
    expect(userSettingsPath({ HOME: "/h", XDG_CONFIG_HOME: "/x" })).toBe("/x/amp/settings.json");
    expect(parseSettings("{ broken")).toEqual({});
    const copy = join(dir, "settings.json");
    await writeSettings(copy, { HOME: dir }, "default");
    expect(JSON.parse(readFileSync(copy, "utf8"))).toMatchObject({ "amp.dangerouslyAllowAll": false });
  });
});
