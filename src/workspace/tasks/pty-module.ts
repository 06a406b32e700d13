/**
 * The binary of the optional package that opens pseudo-terminals, loaded when the first one is asked for. Its JavaScript is not used: `open` of 1.1.0 leaves one
 * descriptor open for each terminal, and its `spawn` loses output (see `pty-line.ts`). The file named here is an inner one, so the version is pinned.
 */
import { createRequire } from "node:module";
import { TaskError } from "./task-error.ts";

/** Calls of the system, as the binary offers them. */
export type PtyModule = {
  /** A new pseudo-terminal: descriptors of its two ends, neither of them close-on-exec, and the path of the slave. */
  open(cols: number, rows: number): { master: number; slave: number; pty: string };
  resize(master: number, cols: number, rows: number): void;
};

const PACKAGE = "@lydell/node-pty";
const require = createRequire(import.meta.url);
let loaded: PtyModule | null = null;

/** Throws `pty_unavailable` when the package is missing or has no binary for this system. `load` is replaced by tests alone. */
export function ptyModule(load: (name: string) => unknown = require): PtyModule {
  if (loaded !== null && load === require) return loaded;
  try {
    const found = binaryOf(load(`${PACKAGE}/requireBinary.js`));
    if (!isPtyModule(found)) throw new Error("it is of another version");
    if (load === require) loaded = found;
    return found;
  } catch (error) {
    const cause = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
    throw new TaskError(
      "pty_unavailable",
      `Terminals need the optional package ${PACKAGE}, which cannot be used here (${cause}): run \`npm install ${PACKAGE}@1.1.0\` without --omit=optional, or start the task with execution_mode "pipes".`,
      error,
    );
  }
}

function binaryOf(finder: unknown): unknown {
  const has = typeof finder === "object" && finder !== null && "requireBinary" in finder ? finder.requireBinary : undefined;
  // On Windows the package has other binaries, and no such terminals.
  return typeof has === "function" ? has("pty.node") : undefined;
}

const isPtyModule = (value: unknown): value is PtyModule =>
  typeof value === "object" &&
  value !== null &&
  "open" in value &&
  typeof value.open === "function" &&
  "resize" in value &&
  typeof value.resize === "function";
