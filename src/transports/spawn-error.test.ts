import { expect, it } from "vitest";
import { spawnAgent } from "./child-process.ts";
import { type SpawnError, toSpawnError } from "./spawn-error.ts";

it("explains any working directory without throwing, whatever was stored as one", () => {
  for (const cwd of [7, null, {}, "", "/a\u0000b", "/dev/null/x", "/no/such/place", "x".repeat(10_000)])
    expect(toSpawnError("agent", cwd as string, new Error("no")).code).toBe("spawn_failed");
});

it("reports a start that Node refuses to its caller, and throws nowhere else", async () => {
  for (const cwd of [7, {}, "/a\u0000b"]) {
    const error = await new Promise<SpawnError>((resolve, reject) => {
      const onExit = () => reject(new Error("it started"));
      spawnAgent({ command: process.execPath, args: [], cwd: cwd as string, onStdout: () => {}, onExit, onSpawnError: resolve });
    });
    expect(error.message).toMatch(/not a directory/);
  }
});
