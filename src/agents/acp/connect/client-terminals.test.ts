import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ProcessRegistry } from "../../../transports/index.ts";
import { isAlive } from "../../../transports/test-processes.ts";
import { ClientTerminals } from "./client-terminals.ts";

let base: string;
let terminals: ClientTerminals;
let told: Map<string, string>;
/** Resolves when a terminal has written this. */
let waits: { id: string; text: string; resolve(): void }[];

const written = (id: string, text: string): Promise<void> =>
  new Promise((resolve) => {
    if (told.get(id)?.includes(text)) resolve();
    else waits.push({ id, text, resolve });
  });

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "acp-term-"));
  told = new Map();
  waits = [];
  terminals = new ClientTerminals({
    directory: async () => base,
    environment: { PATH: process.env.PATH ?? "" },
    recorder: new ProcessRegistry(join(base, "processes")),
    onOutput: (id, data) => {
      told.set(id, (told.get(id) ?? "") + data);
      for (const wait of waits) if (wait.id === id && told.get(id)?.includes(wait.text)) wait.resolve();
    },
    onExit: () => {},
  });
});
afterEach(async () => {
  await terminals.closeAll();
  rmSync(base, { recursive: true, force: true });
});

describe("terminals", () => {
  it("runs a whole shell command when there are no arguments, both streams in order", async () => {
    const { terminalId } = await terminals.create({ command: "echo out && echo err 1>&2; exit 3" });
    expect(await terminals.waitForExit({ terminalId })).toEqual({ exitCode: 3, signal: null });
    expect(terminals.output({ terminalId })).toEqual({
      output: "out\nerr\n",
      truncated: false,
      exitStatus: { exitCode: 3, signal: null },
    });
    expect(told.get(terminalId)).toBe("out\nerr\n");
  });

  it("with arguments nothing is read by a shell", async () => {
    const { terminalId } = await terminals.create({ command: "printf", args: ["%s", "$HOME; `id`"] });
    await terminals.waitForExit({ terminalId });
    expect(terminals.output({ terminalId }).output).toBe("$HOME; `id`");
  });

  it("keeps the end of the output, and never more than it can afford", async () => {
    const { terminalId } = await terminals.create({
      command: "head -c 9000000 /dev/zero | tr '\\0' x; printf end",
      outputByteLimit: 1e15,
    });
    await terminals.waitForExit({ terminalId });
    const { output, truncated } = terminals.output({ terminalId });
    expect(truncated).toBe(true);
    expect(String(output).length).toBe(4 * 1024 * 1024);
    expect(String(output).endsWith("xend")).toBe(true);
  });

  it("passes the environment it is given", async () => {
    const { terminalId } = await terminals.create({ command: 'echo "$A"', env: [{ name: "A", value: "b" }] });
    await terminals.waitForExit({ terminalId });
    expect(terminals.output({ terminalId }).output).toBe("b\n");
  });

  it("keeps the end of a long output, cut at a character", async () => {
    const { terminalId } = await terminals.create({ command: "printf 'aaaaéé'", outputByteLimit: 3 });
    await terminals.waitForExit({ terminalId });
    expect(terminals.output({ terminalId })).toMatchObject({ output: "é", truncated: true });
  });

  it("kill ends the command and keeps its output", async () => {
    const { terminalId } = await terminals.create({ command: "echo started; sleep 600" });
    await written(terminalId, "started");
    await terminals.kill({ terminalId });
    expect(terminals.output({ terminalId })).toMatchObject({
      output: "started\n",
      exitStatus: { exitCode: null, signal: "SIGTERM" },
    });
  });

  it("release leaves no process behind, grandchildren neither, and forgets the terminal", async () => {
    const { terminalId } = await terminals.create({ command: "sleep 600 & echo pid=$!; wait" });
    await written(terminalId, "\n");
    const pid = Number(/pid=(\d+)/.exec(told.get(terminalId) ?? "")?.[1]);
    expect(isAlive(pid)).toBe(true);
    await terminals.release({ terminalId });
    expect(isAlive(pid)).toBe(false);
    expect(() => terminals.output({ terminalId })).toThrow(/no terminal/);
  });

  it("a waiting request is answered when the terminal is released", async () => {
    const { terminalId } = await terminals.create({ command: "sleep 600" });
    const exit = terminals.waitForExit({ terminalId });
    await terminals.release({ terminalId });
    expect(await exit).toMatchObject({ signal: "SIGTERM" });
  });
});
