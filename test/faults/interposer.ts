/** Compiles the interposer once, and tells a running process which of its I/O calls fail. For tests of real daemons. */
import { execFileSync } from "node:child_process";
import { closeSync, openSync, readSync, writeFileSync, writeSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const SOURCE = fileURLToPath(new URL("./interposer.c", import.meta.url));
const COMPILERS = ["cc", "gcc", "clang", "g++"];
const CONTROL_BYTES = 16;

/** Path of the library, or the reason why there is none. */
export function compileInterposer(folder: string): { library: string } | { reason: string } {
  if (process.platform !== "linux") return { reason: "LD_PRELOAD is used on Linux only" };
  const library = join(folder, "interposer.so");
  let reason = "";
  for (const compiler of COMPILERS) {
    try {
      execFileSync(compiler, ["-x", "c", "-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl"], { stdio: "pipe" });
      return { library };
    } catch (error) {
      reason ||= error instanceof Error ? error.message : String(error);
    }
  }
  return { reason: `no C compiler works (${COMPILERS.join(", ")}): ${reason}` };
}

export type Faults = {
  /** For the process that is to fail. */
  env: Record<string, string>;
  /** The n-th call from now on fails; with `lasting`, all after it too. */
  arm(nth: number, error: "ENOSPC" | "EIO", options?: { lasting?: boolean }): void;
  /** Nothing fails any more. */
  disarm(): void;
  /** How many calls have failed. */
  failed(): number;
};

/** Counts calls on files below `directory`, which must exist. */
export function faultsIn(directory: string, library: string, controlFile: string): Faults {
  writeFileSync(controlFile, Buffer.alloc(CONTROL_BYTES));
  const put = (values: readonly [at: number, value: number][]): void => {
    const fd = openSync(controlFile, "r+");
    for (const [at, value] of values) {
      const bytes = Buffer.alloc(4);
      bytes.writeInt32LE(value);
      writeSync(fd, bytes, 0, 4, at);
    }
    closeSync(fd);
  };
  return {
    // libuv may hand file calls to the kernel without going through libc.
    env: { LD_PRELOAD: library, FAULT_CONTROL: controlFile, FAULT_DIR: directory, UV_USE_IO_URING: "0" },
    // The countdown last: with it the rest takes effect.
    arm: (nth, error, { lasting = false } = {}) =>
      put([
        [4, constants.errno[error]],
        [8, lasting ? 1 : 0],
        [0, nth],
      ]),
    disarm: () =>
      put([
        [8, 0],
        [0, 0],
      ]),
    failed() {
      const fd = openSync(controlFile, "r");
      const bytes = Buffer.alloc(4);
      readSync(fd, bytes, 0, 4, 12);
      closeSync(fd);
      return bytes.readInt32LE();
    },
  };
}
