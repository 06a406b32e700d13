/**
 * Content-addressed store of bytes: media, and whatever is too large for an event. A file is complete or not there; what it is stands in the database.
 */
import { createHash } from "node:crypto";
import {
  closeSync,
  createReadStream,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { int, text, textOrNull } from "./columns.ts";
import type { Committer, Writer } from "./committer.ts";
import type { ArtifactInfo, Artifacts } from "./contract.ts";
import type { Database, SqlRow, Statement } from "./driver.ts";
import { LogError, toLogError } from "./log-error.ts";

const ARTIFACT_ID = /^art_([0-9a-f]{64})$/;

export class SqliteArtifacts implements Artifacts, Writer {
  readonly #folder: string;
  readonly #committer: Committer;
  readonly #insert: Statement;
  readonly #find: Statement;
  #pending = new Map<string, ArtifactInfo>();
  #temporary = 0;

  constructor(db: Database, dataDir: string, committer: Committer) {
    this.#folder = join(dataDir, "artifacts");
    this.#committer = committer;
    this.#insert = db.prepare(
      "INSERT OR IGNORE INTO artifacts (artifact_id, kind, mime, name, bytes, created_at) VALUES (?, ?, ?, ?, ?, ?)",
    );
    this.#find = db.prepare("SELECT artifact_id, kind, mime, name, bytes, created_at FROM artifacts WHERE artifact_id = ?");
    mkdirSync(join(this.#folder, "tmp"), { recursive: true, mode: 0o700 });
    this.#sweep();
  }

  put(bytes: Buffer, about: { kind: string; mime: string; name?: string }): ArtifactInfo & { existed: boolean } {
    this.#committer.admit();
    const sha = createHash("sha256").update(bytes).digest("hex");
    const known = this.stat(`art_${sha}`);
    if (known !== undefined && sizeOf(this.#file(sha)) === bytes.length) return { ...known, existed: true };
    try {
      this.#write(sha, bytes);
    } catch (error) {
      throw toLogError(error, `Writing artifact art_${sha}`);
    }
    if (known !== undefined) return { ...known, existed: true };
    const info = describe(`art_${sha}`, about.kind, about.mime, about.name ?? null, bytes.length, Date.now());
    this.#pending.set(info.artifact_id, info);
    this.#committer.enlist(this, 256, false);
    return { ...info, existed: false };
  }

  stat(artifactId: string): ArtifactInfo | undefined {
    shaOf(artifactId);
    const pending = this.#pending.get(artifactId);
    if (pending !== undefined) return pending;
    const row = this.#find.get(artifactId);
    return row === undefined ? undefined : infoOf(row);
  }

  openRead(artifactId: string, range: { start?: number; end?: number } = {}): Readable | undefined {
    if (this.stat(artifactId) === undefined) return undefined;
    const file = this.#file(shaOf(artifactId));
    return sizeOf(file) === undefined ? undefined : createReadStream(file, range);
  }

  write(): void {
    for (const { artifact_id, kind, mime, name, bytes, created_at } of this.#pending.values()) {
      this.#insert.run(artifact_id, kind, mime, name, bytes, created_at);
    }
  }

  settle(): void {
    this.#pending = new Map();
  }

  #file(sha: string): string {
    return join(this.#folder, sha.slice(0, 2), sha);
  }

  /** A temporary file, fsynced, then renamed; then the folder is fsynced, so that the name survives too. */
  #write(sha: string, bytes: Buffer): void {
    const file = this.#file(sha);
    const temporary = join(this.#folder, "tmp", `${sha}.${this.#temporary++}`);
    try {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      const fd = openSync(temporary, "wx", 0o600);
      try {
        for (let offset = 0; offset < bytes.length; ) offset += writeSync(fd, bytes, offset);
        fsyncSync(fd);
      } finally {
        closeSync(fd);
      }
      renameSync(temporary, file);
      syncFolder(dirname(file));
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
  }

  /** What a killed daemon left half written. */
  #sweep(): void {
    const folder = join(this.#folder, "tmp");
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { force: true });
  }
}

function shaOf(artifactId: string): string {
  const sha = ARTIFACT_ID.exec(artifactId)?.[1];
  if (sha === undefined)
    throw new LogError("invalid_artifact_id", "An artifact id is art_ and 64 hex digits. Take it from an event.");
  return sha;
}

function sizeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size;
}

function syncFolder(folder: string): void {
  if (process.platform === "win32") return;
  const fd = openSync(folder, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function infoOf(row: SqlRow): ArtifactInfo {
  return describe(
    text(row, "artifact_id"),
    text(row, "kind"),
    text(row, "mime"),
    textOrNull(row, "name"),
    int(row, "bytes"),
    int(row, "created_at"),
  );
}

function describe(id: string, kind: string, mime: string, name: string | null, bytes: number, created_at: number): ArtifactInfo {
  return { artifact_id: id, path: `/v1/artifacts/${id}`, bytes, digest: `sha256:${id.slice(4)}`, mime, kind, name, created_at };
}
