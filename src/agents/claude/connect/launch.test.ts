import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AgentHost, SessionConfig } from "../../contract.ts";
import { sessionConfig } from "../../kit/test-config.ts";
import { userParts } from "../translate/user-parts.ts";
import { askRules } from "./allow-rules.ts";
import { bypassRefusal, launchArguments } from "./launch.ts";
import { promptContent } from "./prompt-content.ts";

let stateDir = "";
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), "claude-launch-"));
});
afterEach(() => rmSync(stateDir, { recursive: true, force: true }));

const args = (more: Partial<SessionConfig> = {}, resume: { native_session_id: string; fork: boolean } | null = null) =>
  launchArguments({ config: sessionConfig(more), resume, host: { stateDir } as AgentHost }, { IS_SANDBOX: "1" });

describe("launch arguments", () => {
  it("ask for streaming in both directions, deltas and permission requests", () => {
    expect(args().args.join(" ")).toContain(
      "-p --input-format stream-json --output-format stream-json --verbose --include-partial-messages --permission-prompt-tool stdio --permission-mode=default",
    );
  });

  it("resume keeps the id, fork branches", () => {
    expect(args({}, { native_session_id: "abc", fork: false }).args).toContain("--resume=abc");
    expect(args({}, { native_session_id: "abc", fork: true }).args).toContain("--fork-session");
  });

  it("re-assert the permission mode at every start", () => {
    expect(args({ permission_mode: "plan" }, { native_session_id: "abc", fork: false }).args).toContain("--permission-mode=plan");
  });

  it("only a bypass session gets the option that allows bypass: older versions take plan for bypass otherwise", () => {
    const option = "--allow-dangerously-skip-permissions";
    for (const mode of ["default", "plan", "accept_edits"] as const)
      expect(args({ permission_mode: mode }).args).not.toContain(option);
    expect(args({ permission_mode: "bypass" }).args).toContain(option);
  });

  it.runIf(process.getuid?.() === 0)("root may bypass only where IS_SANDBOX is exactly 1", () => {
    for (const value of [undefined, "", "0", "yes", "true"])
      expect(bypassRefusal("bypass", value === undefined ? {} : { IS_SANDBOX: value })).toContain("IS_SANDBOX to 1");
    expect([bypassRefusal("bypass", { IS_SANDBOX: "1" }), bypassRefusal("plan", {})]).toEqual([null, null]);
  });

  it("rules of files ask instead of allowing: the person's own in plan, a repository's in every mode but bypass", () => {
    const [home, repository] = [join(stateDir, "home"), join(stateDir, "repo")];
    for (const [folder, allow] of [
      [home, ["Bash(npm test)", "Read"]],
      [join(repository, ".claude"), ["Bash", "Write"]],
    ] as const) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(
        join(folder, folder === home ? "settings.json" : "settings.local.json"),
        JSON.stringify({ permissions: { allow } }),
      );
    }
    const asked = (mode: SessionConfig["permission_mode"]) =>
      askRules(mode, join(repository, "sub"), { CLAUDE_CONFIG_DIR: home });
    expect(asked("plan")).toEqual(["Bash(npm test)", "Bash", "Write"]);
    expect(asked("default")).toEqual(["Bash", "Write"]);
    expect(asked("accept_edits")).toEqual(["Bash"]);
    expect(asked("bypass")).toEqual([]);
  });

  it("refuse values that look like options, and join the others", () => {
    expect(() => args({ model: "--settings=x" })).toThrow(/must not begin with a dash/);
    expect(args({ model: "opus", variant: "high", agent_mode: "reviewer" }).args).toEqual(
      expect.arrayContaining(["--model=opus", "--effort=high", "--agent=reviewer"]),
    );
  });

  it("MCP servers lie in a private file of ours, gone when the process is", () => {
    const launch = args({
      mcp_servers: [{ name: "lab", type: "stdio", command: "node", args: ["s.mjs"], env: { KEY: "secret" } }],
    });
    const path = launch.args.find((arg) => arg.startsWith("--mcp-config="))?.slice("--mcp-config=".length) ?? "";
    expect(path.startsWith(stateDir)).toBe(true);
    expect(launch.args.join(" ")).not.toContain("secret");
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
      mcpServers: { lab: { type: "stdio", command: "node", args: ["s.mjs"], env: { KEY: "secret" } } },
    });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    launch.clean();
    expect(() => statSync(path)).toThrow();
  });
});

describe("prompt content", () => {
  const bytes = Buffer.from("hi");
  it("a slash is a command only when the person chose it", () => {
    const command = { name: "compact", arguments: "" };
    expect(promptContent({ message_id: "u", text: "/compact", command, attachments: [] })).toBe("/compact");
    expect(promptContent({ message_id: "u", text: "/compact", attachments: [] })).toBe("\u200b/compact");
    expect(userParts("\u200b/compact")).toEqual([{ type: "text", text: "/compact" }]);
  });

  it("attachments become blocks", () => {
    const attachments = [
      { name: "i.png", mime: "image/png", bytes, path: null },
      { name: "d.pdf", mime: "application/pdf", bytes, path: null },
      { name: "n.txt", mime: "text/plain", bytes, path: null },
      { name: "x.bin", mime: "application/x", bytes, path: "/w/x.bin" },
    ];
    expect(promptContent({ message_id: "u", text: "look", attachments })).toMatchObject([
      { type: "text", text: "look" },
      { type: "image", source: { media_type: "image/png", data: "aGk=" } },
      { type: "document", title: "d.pdf" },
      { type: "document", source: { type: "text", data: "hi" } },
      { type: "text", text: "Attached file: /w/x.bin" },
    ]);
  });
});
