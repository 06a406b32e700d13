/** Agent Skills through the running daemon: one catalog, trust, and `/name` in a message to any agent. */
import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SessionHandle } from "../src/client/session-handle.ts";
import type { UniversalEvent } from "../src/schema/event.ts";
import { cli, type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "./daemon-process.ts";

let home: string;
let project: string;
let daemon: DaemonProcess;

function skill(base: string, root: string, name: string, more = ""): void {
  const folder = join(base, root, "skills", name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "SKILL.md"),
    `---\nname: ${name}\ndescription: ${name} of ${root}\n${more}---\nDo what ${root} says.\n`,
  );
}

beforeAll(async () => {
  home = realpathSync(temporaryDir("skills"));
  project = realpathSync(temporaryDir("skills-project"));
  skill(home, ".agents", "greet", "allowed-tools: Read Teleport\n");
  skill(home, ".claude", "mine");
  skill(project, ".agents", "build");
  skill(project, ".claude", "greet");
  daemon = await startDaemonProcess(home);
});
afterAll(async () => {
  await daemon.kill("SIGTERM");
  removeDir(home);
  removeDir(project);
});

const skillEvents = async (session: SessionHandle) =>
  ((await session.page({ limit: 1_000 })).events as UniversalEvent[]).filter(({ type }) => type.startsWith("skill."));

const userTexts = async (session: SessionHandle): Promise<string[]> => {
  const texts: string[] = [];
  for await (const item of session.transcript())
    if (item.role === "user") texts.push(item.content.map((part) => ("text" in part ? (part.text ?? "") : "")).join(""));
  return texts;
};

describe("skills", () => {
  it("are one catalog, in which a directory counts only while it is trusted", async () => {
    const before = await daemon.client.skills({ directory: project });
    expect([before.trusted, before.skills.map(({ name }) => name)]).toEqual([false, ["greet", "mine"]]);
    await daemon.client.trustDirectory(project);
    const { skills, collisions, warnings, trusted } = await daemon.client.skills({ directory: project });
    expect(trusted).toBe(true);
    expect(skills.map(({ name, scope }) => `${name} ${scope}`).sort()).toEqual(["build project", "greet project", "mine user"]);
    expect(collisions).toEqual([
      expect.objectContaining({ name: "greet", used: join(project, ".claude/skills/greet/SKILL.md") }),
    ]);
    expect(warnings.map(({ kind }) => kind)).toContain("collision");
    const seen = (name: string) =>
      Object.fromEntries(skills.find((each) => each.name === name)!.agents.map(({ agent, visible }) => [agent, visible]));
    expect(seen("build")).toMatchObject({
      claude: "injected",
      codex: "native",
      gemini: "native",
      copilot: "native",
      mock: "not_visible",
    });
    expect(seen("mine")).toMatchObject({ claude: "native", codex: "injected", opencode: "native", amp: "injected" });
    await daemon.client.distrustDirectory(project);
    expect((await daemon.client.skills()).skills.map(({ name }) => name)).toEqual(["greet", "mine"]);
    await expect(daemon.client.skills({ directory: "relative" })).rejects.toMatchObject({ code: "directory_not_found" });
  });

  it("are used by a message that begins with their name, by any agent", async () => {
    const session = await daemon.client.createSession({ agent: "mock", directory: project });
    await session.prompt("/greet the world");
    const [invoked, loaded, ...warned] = await skillEvents(session);
    expect(invoked).toMatchObject({
      type: "skill.invoked",
      data: { name: "greet", args: "the world", mode: "manual", effective_allowed_tools: ["read"] },
    });
    expect(loaded).toMatchObject({
      type: "skill.loaded",
      data: {
        name: "greet",
        path: join(home, ".agents/skills/greet/SKILL.md"),
        digest: expect.stringMatching(/^sha256:/),
        frontmatter: { name: "greet" },
      },
    });
    expect(warned.map(({ type }) => type)).toEqual(["skill.warning"]);
    const [text] = await userTexts(session);
    expect(text).toContain('<skill_content name="greet"');
    expect(text).toContain("Do what .agents says.\n\nArguments: the world");
    // The directory is not trusted: what it brings is only text.
    await session.prompt("/build it");
    expect(await skillEvents(session)).toHaveLength(3);
    expect((await userTexts(session)).at(-1)).toBe("/build it");
    const trusted = await daemon.client.createSession({ agent: "mock", directory: project, trust: "trusted" });
    await trusted.prompt("/greet");
    expect((await userTexts(trusted))[0]).toContain("Do what .claude says.");
  });

  it("are listed and shown on the command line", async () => {
    const run = (...args: string[]) => cli(home, args);
    const { out, err } = await run("skills", "ls", "--directory", project);
    expect(out).toMatch(/greet +user .*gemini/);
    expect(err).toContain("is not trusted");
    expect((await run("skills", "show", "greet")).out).toContain("Do what .agents says.");
    expect((await run("skills", "show", "nothing")).code).toBe(2);
  });
});
