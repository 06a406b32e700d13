/**
 * The files of the data directory that hold secrets: written whole, with mode 0600, whatever mode was there before. Not here: what the secrets mean.
 */
import { chmodSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const MIN_SECRET_LENGTH = 16;

/** Roles that have a token file. */
export const ROOT_ROLES = ["admin", "observe"] as const;
export type RootRole = (typeof ROOT_ROLES)[number];

export const tokenFile = (dataDir: string, role: RootRole): string => join(dataDir, role === "admin" ? "token" : "token.observe");

/** Changes when the file is another one, or gone. */
export function stampOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false, bigint: true });
  return stat ? `${stat.ino}:${stat.mtimeNs}:${stat.size}` : "none";
}

/** Makes the file when it is missing or empty, and takes all rights from others when it is there. */
export function ensureSecret(file: string, make: () => string): void {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat && readFileSync(file, "utf8").trim().length >= MIN_SECRET_LENGTH) {
    if ((stat.mode & 0o077) !== 0) chmodSync(file, 0o600);
    return;
  }
  writePrivate(file, `${make()}\n`);
}

/** Whole or not at all, and never readable by others, not even for a moment. */
export function writePrivate(file: string, text: string): void {
  const temporary = `${file}.${process.pid}.tmp`;
  rmSync(temporary, { force: true });
  writeFileSync(temporary, text, { mode: 0o600, flag: "wx" });
  renameSync(temporary, file);
}
