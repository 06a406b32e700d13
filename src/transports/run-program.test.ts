import { describe, expect, it } from "vitest";
import { ProgramTimeout, runProgram } from "./run-program.ts";

const node = (script: string, more: { timeoutMs?: number; maxOutputBytes?: number } = {}): Promise<string> =>
  runProgram(process.execPath, { args: ["-e", script], cwd: process.cwd(), env: process.env, timeoutMs: 30_000, ...more });

describe("a program that is run to its end", () => {
  it("gives its output", async () => {
    expect(await node("console.log('1.2.3')")).toBe("1.2.3\n");
  });

  it("fails with what it said", async () => {
    await expect(node("console.error('no key'); process.exit(2)")).rejects.toThrow(/ended with code 2.*no key/s);
    await expect(runProgram("no-such-program", { args: [], cwd: "/", env: {}, timeoutMs: 1_000 })).rejects.toThrow();
  });

  it("is ended when it takes too long or prints too much", async () => {
    await expect(node("setInterval(() => {}, 1000)", { timeoutMs: 50 })).rejects.toBeInstanceOf(ProgramTimeout);
    await expect(node("setInterval(() => console.log('x'.repeat(1000)), 0)", { maxOutputBytes: 10_000 })).rejects.toThrow(
      /10000 bytes/,
    );
  });
});
