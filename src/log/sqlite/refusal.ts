/**
 * A damaged log is not replaced by an empty one behind anybody's back. The refusal is written down in the data directory and holds for every further start,
 * also of a service manager that tries again and again, until a person decides: restores a file, or accepts an empty log. Nothing is ever deleted here.
 */
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LogError } from "../log-error.ts";

export const DATABASE_FILE = "dragoman.db";
const REFUSAL_FILE = "damaged.json";
const ASIDE = ".corrupt-";

/** `file`: what the damaged database looked like, so that a restored one is recognized. */
export type Refusal = { found_at: string; reason: string; file: string };

export function readRefusal(dataDir: string): Refusal | undefined {
  const path = join(dataDir, REFUSAL_FILE);
  if (!existsSync(path)) return undefined;
  try {
    const found: unknown = JSON.parse(readFileSync(path, "utf8"));
    const { found_at, reason, file } = Object(found);
    return { found_at: String(found_at), reason: String(reason), file: String(file) };
  } catch {
    return { found_at: "", reason: `${REFUSAL_FILE} cannot be read`, file: "" };
  }
}

/** Names of logs that were set aside. */
export function setAsideLogs(dataDir: string): string[] {
  if (!existsSync(dataDir)) return [];
  return readdirSync(dataDir).filter((name) => name.startsWith(DATABASE_FILE + ASIDE) && !/-(wal|shm)$/.test(name));
}

/** Throws while nobody has decided. What is left of the damaged log's WAL is not applied to a restored file. */
export function mustNotBeRefused(dataDir: string): void {
  const refusal = readRefusal(dataDir);
  if (refusal === undefined) return;
  const path = join(dataDir, DATABASE_FILE);
  if (!existsSync(path) || stateOf(path) === refusal.file) throw refused(dataDir, refusal.reason);
  const found = Date.parse(refusal.found_at) || 0;
  const time = timeName();
  for (const suffix of ["-wal", "-shm"]) {
    const stat = statSync(path + suffix, { throwIfNoEntry: false });
    if (stat !== undefined && stat.mtimeMs <= found) renameSync(path + suffix, `${path}${ASIDE}${time}${suffix}`);
  }
}

/** From now on every start is refused. Returns the error that says so. */
export function refuse(dataDir: string, found: LogError): LogError {
  const file = stateOf(join(dataDir, DATABASE_FILE));
  const refusal: Refusal = { found_at: new Date().toISOString(), reason: found.message, file };
  try {
    writeFileSync(join(dataDir, REFUSAL_FILE), `${JSON.stringify(refusal)}\n`, { mode: 0o600 });
  } catch {
    // A full disk: the next start finds the damage again.
  }
  return refused(dataDir, found.message, found);
}

export function endRefusal(dataDir: string): void {
  rmSync(join(dataDir, REFUSAL_FILE), { force: true });
}

/** The damaged database and its artifacts keep their bytes under another name. */
export function setAside(dataDir: string): void {
  const time = timeName();
  const path = join(dataDir, DATABASE_FILE);
  for (const suffix of ["", "-wal", "-shm"])
    if (existsSync(path + suffix)) renameSync(path + suffix, `${path}${ASIDE}${time}${suffix}`);
  const artifacts = join(dataDir, "artifacts");
  if (existsSync(artifacts)) renameSync(artifacts, `${artifacts}${ASIDE}${time}`);
  endRefusal(dataDir);
}

function refused(dataDir: string, reason: string, cause?: unknown): LogError {
  const path = join(dataDir, DATABASE_FILE);
  const message = `The log ${path} is damaged, and dragoman does not start with it (${reason}). Either restore a backup: put it in place of ${DATABASE_FILE}, remove ${DATABASE_FILE}-wal and ${DATABASE_FILE}-shm, and start again. Or begin with an empty log: start once with "dragoman serve --accept-empty"; the damaged one is kept as ${DATABASE_FILE}${ASIDE}<time>, and "sqlite3 <file> .recover" may save what is in it.`;
  return new LogError("database_corrupt", message, { path }, cause);
}

const timeName = (): string => new Date().toISOString().replaceAll(":", "-");

function stateOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? "missing" : `${stat.ino} ${stat.size} ${stat.mtimeMs}`;
}
