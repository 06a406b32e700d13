// Files of the daemon beside the log, on a disk that takes nothing: what clients are told. Not here: the log itself (test/full-disk.test.ts).
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { TrustStore } from "../trust/trust-store.ts";
import { toProblemError } from "./problems.ts";
import { trustRoutes } from "./routes/trust.ts";
import { problem, startTestServer } from "./test-server.ts";

it.skipIf(process.platform !== "linux")("a disk that is full for the daemon's own files is no fault of the daemon", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "dragoman-full-"));
  const server = await startTestServer({ routes: [trustRoutes(new TrustStore({ dataDir }))] });
  try {
    // What is written first; whatever is written to it meets a full disk.
    symlinkSync("/dev/full", join(dataDir, `trust.json.${process.pid}`));
    const reply = await server.call("POST", "/v1/trust", { directory: dataDir });
    expect([reply.status, problem(reply).code]).toEqual([507, "disk_full"]);
  } finally {
    await server.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
});

it.each([
  ["ENOSPC", "disk_full"],
  ["EDQUOT", "disk_full"],
  ["EROFS", "not_ready"],
  ["EIO", "not_ready"],
  ["EMFILE", "not_ready"],
  ["ENFILE", "not_ready"],
])("%s of a file is %s, with what to do", (code, expected) => {
  const error = Object.assign(new Error(`${code}: as the system says, open '/a'`), { code, syscall: "open" });
  expect(toProblemError(error)).toMatchObject({ code: expected, message: expect.stringMatching(/Free some|try again/i) });
});
