import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SessionConfig } from "../../contract.ts";
import { sessionConfig } from "../../kit/test-config.ts";
import { inputMessage, planRun, takesImages } from "./launch.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "dragoman-amp-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const config = sessionConfig({ permission_mode: "bypass" });

const version = async () => "0.0.1777897475-g2324e1";

const dot = { name: "dot.png", mime: "image/png", bytes: Buffer.from("dot"), path: null };
const prompt = (attachments = [dot]) => ({ message_id: "m-1", text: "look", attachments });

describe("the command line of a run", () => {
  it("starts a thread, or continues one", async () => {
    expect((await planRun(config, null, {}, { dir, trustRepository: false, version })).args.slice(0, 4)).toEqual([
      "--execute",
      "--stream-json",
      "--stream-json-thinking",
      "--stream-json-input",
    ]);
    expect((await planRun(config, "T-1-a", {}, { dir, trustRepository: false, version })).args.slice(0, 4)).toEqual([
      "threads",
      "continue",
      "T-1-a",
      "--execute",
    ]);
  });

  it("allows everything only in bypass; otherwise names a settings file of ours", async () => {
    expect((await planRun(config, null, {}, { dir, trustRepository: false, version })).args).toContain("--dangerously-allow-all");
    const { args } = await planRun(
      { ...config, permission_mode: "plan" },
      null,
      { HOME: dir },
      { dir, trustRepository: false, version },
    );
    expect(args).not.toContain("--dangerously-allow-all");
    expect(args[args.indexOf("--settings-file") + 1]).toBe(join(dir, "settings.json"));
  });

  it("keeps the secrets of MCP servers out of itself", async () => {
    const servers: SessionConfig["mcp_servers"] = [
      { name: "lab", type: "stdio", command: "node", args: ["x"], env: { KEY: "secret" } },
      { name: "web", type: "http", url: "http://127.0.0.1/mcp", headers: { Authorization: "secret" } },
    ];
    const { args } = await planRun({ ...config, mcp_servers: servers }, null, {}, { dir, trustRepository: false, version });
    expect(args.join(" ")).not.toContain("secret");
    expect(JSON.parse(readFileSync(args[args.indexOf("--mcp-config") + 1] ?? "", "utf8"))).toEqual({
      lab: { command: "node", args: ["x"], env: { KEY: "secret" } },
      web: { url: "http://127.0.0.1/mcp", headers: { Authorization: "secret" } },
    });
  });

  it("takes no value that would be read as an option", async () => {
    await expect(
      planRun({ ...config, agent_mode: "--dangerously-allow-all" }, null, {}, { dir, trustRepository: false, version }),
    ).rejects.toMatchObject({
      code: "agent_refused",
    });
    await expect(planRun(config, "--help", {}, { dir, trustRepository: false, version })).rejects.toMatchObject({
      code: "agent_refused",
    });
  });
});

describe("a repository that allows itself everything", () => {
  it("gets no run, unless the session is in bypass or the repository is trusted", async () => {
    mkdirSync(join(dir, ".amp"));
    writeFileSync(join(dir, ".amp", "settings.json"), '{"amp.dangerouslyAllowAll":true}');
    const careful: SessionConfig = { ...config, directory: dir, permission_mode: "plan" };
    await expect(planRun(careful, null, {}, { dir, trustRepository: false, version })).rejects.toThrow(/dangerouslyAllowAll/);
    await expect(planRun(careful, null, {}, { dir, trustRepository: true, version })).resolves.toBeDefined();
    await expect(
      planRun({ ...careful, permission_mode: "bypass" }, null, {}, { dir, trustRepository: false, version }),
    ).resolves.toBeDefined();
  });
});

describe("a repository whose rules ask", () => {
  it("gets no run from the January build, which would wait for ever", async () => {
    mkdirSync(join(dir, ".amp"));
    writeFileSync(join(dir, ".amp", "settings.json"), '{"amp.permissions":[{"tool":"Bash","action":"ask"}]}');
    const careful: SessionConfig = { ...config, directory: dir, permission_mode: "default" };
    const january = async () => "0.0.1769425000-g1e5104";
    await expect(planRun(careful, null, {}, { dir, trustRepository: true, version: january })).rejects.toThrow(/for ever/);
    await expect(planRun(careful, null, {}, { dir, trustRepository: true, version })).resolves.toBeDefined();
  });
});

describe("the message of a run", () => {
  it("has images inside, and other files by their path", async () => {
    const notes = { name: "../notes.txt", mime: "text/plain", bytes: Buffer.from("notes"), path: null };
    const message = await inputMessage(prompt([dot, notes]), { dir, inlineImages: true });
    const kept = join(dir, "attachments", "m-1", "notes.txt");
    expect(message.message.content).toEqual([
      { type: "text", text: `look\n\nAttached file: ${kept}` },
      { type: "image", source: { type: "base64", media_type: "image/png", data: "ZG90" } },
    ]);
    expect(readFileSync(kept, "utf8")).toBe("notes");
  });

  it("names images by their path for the January build, which rejects them", async () => {
    expect(takesImages("0.0.1769425000-g1e5104")).toBe(false);
    expect(takesImages("0.0.1777897475-g2324e1")).toBe(true);
    expect(takesImages(null)).toBe(true);
    const { message } = await inputMessage(prompt(), { dir, inlineImages: false });
    expect(message.content).toEqual([{ type: "text", text: expect.stringContaining("dot.png") }]);
  });

  it("says how many blocks it carries along from turns that were lost", async () => {
    const message = await inputMessage(prompt([]), { dir, inlineImages: true, carried: ["before"] });
    expect(message).toMatchObject({
      carried: 1,
      request_id: "m-1",
      message: { content: [{ text: "before" }, { text: "look" }] },
    });
  });
});
