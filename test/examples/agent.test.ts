/** examples/agent: it keeps the contract of an agent, and a daemon whose configuration names it drives it. */
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agentContract } from "../../src/agents/agent.suite.ts";
import { Dragoman } from "../../src/client/index.ts";
import { ConfigError } from "../../src/daemon/config.ts";
import { type Daemon, startDaemon } from "../../src/daemon/daemon.ts";
import { removeDir, temporaryDir } from "../daemon-process.ts";

/** As npm would have installed it, beside the package it is built on. */
const installed = temporaryDir("agent-template");
const folder = join(installed, "node_modules", "dragoman-agent-parrot");
cpSync(fileURLToPath(new URL("../../examples/agent", import.meta.url)), folder, { recursive: true });
symlinkSync(fileURLToPath(new URL("../..", import.meta.url)), join(installed, "node_modules", "dragoman"));
const { default: parrot } = await import(pathToFileURL(join(folder, "index.js")).href);
afterAll(() => removeDir(installed));

agentContract("the template", {
  agent: parrot.agent,
  settings: () => ({}),
  prompts: { answer: "hello", hang: "hang", garbage: "garbage", flood: (count) => `flood ${count}`, ask: "ask" },
});

describe("an agent from a package", () => {
  let dir: string;
  let daemon: Daemon | null = null;

  beforeAll(() => {
    dir = temporaryDir("agent-package");
  });
  afterAll(async () => {
    await daemon?.close();
    removeDir(dir);
  });

  const start = (name: string, id = "parrot") =>
    startDaemon({ dataDir: join(dir, "data"), port: 0, directory: dir, config: { agents: { [id]: { package: name } } } });

  it("is installed into its folder, configured, and driven like any other", async () => {
    const modules = join(dir, "data", "agents", "parrot", "node_modules");
    mkdirSync(modules, { recursive: true, mode: 0o700 });
    // Alone: what it is built on is not installed beside it.
    cpSync(folder, join(modules, "dragoman-agent-parrot"), { recursive: true });
    daemon = await start("dragoman-agent-parrot");
    const client = new Dragoman({ url: daemon.url, token: daemon.token });
    expect(await client.agent("parrot")).toMatchObject({ agent: "parrot", installed: true });
    const session = await client.createSession({ agent: "parrot" });
    expect(await session.prompt("good morning")).toMatchObject({ text: expect.stringContaining("good morning") });
    await daemon.close();
    daemon = null;
  });

  it("that cannot be used is an error of the configuration that says what to do", async () => {
    await expect(start("there-is-no-such-package")).rejects.toThrow(/npm install --prefix .*there-is-no-such-package/);
    await expect(start(folder, "budgie")).rejects.toThrow(/configure it as agents\.parrot/);
    const future = join(dir, "future.mjs");
    writeFileSync(future, "export default { contract: 99, agent: { id: 'parrot', connect() {} } };");
    await expect(start(future)).rejects.toThrow(/version 99 of the agent contract/);
    const empty = join(dir, "empty.mjs");
    writeFileSync(empty, "export default {};");
    await expect(start(empty)).rejects.toThrow(ConfigError);
  });
});
