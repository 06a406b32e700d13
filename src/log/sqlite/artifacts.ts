/**
 * Content-addressed store of bytes: media, and whatever is too large for an event. What an artifact is, and which streams it belongs to, stands in the
 * database; an artifact goes with the last of its streams.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Readable } from "node:stream";
import type {
  ArtifactAbout,
  ArtifactInfo,
  ArtifactListOptions,
  ArtifactOwner,
  ArtifactPage,
  Artifacts,
  StreamKind,
} from "../contract.ts";
import { LogError, toLogError } from "../log-error.ts";
import { checksumOf, matches } from "../packing/checksum.ts";
import type { Damage } from "../packing/damage.ts";
import { int, text, textOrNull } from "../packing/row-readers.ts";
import { withoutNul } from "../without-nul.ts";
import { ArtifactFiles } from "./artifact-files.ts";
import type { Committer, Writer } from "./committer.ts";
import type { Database, SqlRow, Statement } from "./driver.ts";

const ARTIFACT_ID = /^art_([0-9a-f]{64})$/;
const COLUMNS = "artifact_id, kind, mime, name, bytes, created_at";

type Link = { artifactId: string; stream: number };

export class SqliteArtifacts implements Artifacts, Writer {
  readonly #files: ArtifactFiles;
  readonly #committer: Committer;
  readonly #damage: Damage;
  readonly #insert: Statement;
  readonly #find: Statement;
  readonly #link: Statement;
  readonly #isLinked: Statement;
  readonly #ofStream: Statement;
  readonly #unlinkStream: Statement;
  readonly #linksLeft: Statement;
  readonly #delete: Statement;
  readonly #addRemoval: Statement;
  readonly #removals: Statement;
  readonly #endRemoval: Statement;
  readonly #db: Database;
  readonly #numberOf: Statement;
  readonly #owners: Statement;
  readonly #usage: Statement;
  #pending = new Map<string, ArtifactInfo>();
  #links = new Map<string, Link>();

  constructor(db: Database, dataDir: string, { committer, damage }: { committer: Committer; damage: Damage }) {
    this.#files = new ArtifactFiles(join(dataDir, "artifacts"));
    this.#committer = committer;
    this.#damage = damage;
    this.#insert = db.prepare(
      `INSERT OR IGNORE INTO artifacts (${COLUMNS}, key_checksum, row_checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#find = db.prepare(`SELECT ${COLUMNS}, row_checksum FROM artifacts WHERE artifact_id = ?`);
    this.#link = db.prepare("INSERT OR IGNORE INTO artifact_streams (artifact_id, stream, key_checksum) VALUES (?, ?, ?)");
    this.#isLinked = db.prepare("SELECT 1 AS one FROM artifact_streams WHERE artifact_id = ? AND stream = ?");
    this.#ofStream = db.prepare("SELECT artifact_id FROM artifact_streams WHERE stream = ?");
    this.#unlinkStream = db.prepare("DELETE FROM artifact_streams WHERE stream = ?");
    this.#linksLeft = db.prepare("SELECT count(*) AS count FROM artifact_streams WHERE artifact_id = ?");
    this.#delete = db.prepare("DELETE FROM artifacts WHERE artifact_id = ?");
    this.#addRemoval = db.prepare("INSERT OR IGNORE INTO artifact_removals (artifact_id) VALUES (?)");
    this.#removals = db.prepare("SELECT artifact_id FROM artifact_removals");
    this.#db = db;
    this.#numberOf = db.prepare("SELECT no FROM streams WHERE kind = ? AND id = ? AND deleted = 0");
    this.#owners = db.prepare(
      "SELECT kind, id FROM artifact_streams JOIN streams ON streams.no = artifact_streams.stream WHERE artifact_id = ? AND deleted = 0 ORDER BY no",
    );
    this.#usage = db.prepare("SELECT count(*) AS count, coalesce(sum(bytes), 0) AS bytes FROM artifacts");
    this.#endRemoval = db.prepare("DELETE FROM artifact_removals WHERE artifact_id = ?");
  }

  /** For the stream of this number. */
  put(stream: number, bytes: Buffer, about: ArtifactAbout): ArtifactInfo {
    const sha = createHash("sha256").update(bytes).digest("hex");
    const artifactId = `art_${sha}`;
    const known = this.#stat(artifactId);
    try {
      // A file that may be damaged is written again: here are the right bytes.
      if (known === undefined || !this.#files.isVerified(sha)) this.#files.write(sha, bytes);
    } catch (error) {
      throw toLogError(error, `Writing artifact ${artifactId}`);
    }
    if (this.#isLinked.get(artifactId, stream) === undefined) {
      this.#links.set(`${artifactId} ${stream}`, { artifactId, stream });
      this.#committer.enlist(this, 256, false);
    }
    if (known !== undefined) return known;
    const made = about.created_at ?? Date.now();
    // As the database has them, since their checksum is compared with what is read.
    const [kind, mime, name] = [withoutNul(about.kind), withoutNul(about.mime), withoutNul(about.name ?? null)];
    const info = describe(artifactId, kind, mime, name, bytes.length, made);
    this.#pending.set(artifactId, info);
    this.#committer.enlist(this, 256, false);
    return info;
  }

  async stat(artifactId: string): Promise<ArtifactInfo | undefined> {
    return this.#stat(artifactId);
  }

  #stat(artifactId: string): ArtifactInfo | undefined {
    shaOf(artifactId);
    const pending = this.#pending.get(artifactId);
    if (pending !== undefined) return pending;
    const row = this.#damage.guard(`The description of ${artifactId}`, undefined, () => this.#find.get(artifactId));
    return row === undefined ? undefined : this.#checked(row);
  }

  #checked(row: SqlRow): ArtifactInfo {
    const info = infoOf(row);
    if (!matches(row, "row_checksum", rowChecksum(info)))
      throw this.#damage.artifact(info.artifact_id, "its description is damaged");
    return info;
  }

  async openRead(artifactId: string, range: { start?: number; end?: number } = {}): Promise<Readable | undefined> {
    const info = this.#stat(artifactId);
    if (info === undefined) return undefined;
    const found = await this.#files.read(shaOf(artifactId), info.bytes, range);
    if (found !== undefined && "damage" in found) throw this.#damage.artifact(artifactId, found.damage);
    return found;
  }

  async list(options: ArtifactListOptions = {}): Promise<ArtifactPage> {
    const { order = "newest", limit = 100, min_bytes = 0, kind, of, before } = options;
    const by = order === "newest" ? "created_at" : "bytes";
    const wheres = ["bytes >= ?"];
    const values: (string | number)[] = [min_bytes];
    if (kind !== undefined) {
      wheres.push("kind = ?");
      values.push(kind);
    }
    if (of !== undefined) {
      const rows = of.map(({ kind, id }) => this.#numberOf.get(kind, id));
      const numbers = rows.flatMap((row) => (row === undefined ? [] : [int(row, "no")]));
      wheres.push(`artifact_id IN (SELECT artifact_id FROM artifact_streams WHERE stream IN (${numbers.join(",")}))`);
    }
    const place = /^(\d+)\.(art_[0-9a-f]{64})$/.exec(before ?? "");
    if (place) {
      wheres.push(`(${by}, artifact_id) < (?, ?)`);
      values.push(Number(place[1]), place[2] ?? "");
    }
    const sql = `SELECT ${COLUMNS}, row_checksum FROM artifacts WHERE ${wheres.join(" AND ")} ORDER BY ${by} DESC, artifact_id DESC LIMIT ?`;
    const rows = this.#damage.guard("The list of artifacts", undefined, () => this.#db.prepare(sql).all(...values, limit + 1));
    const shown = rows.slice(0, limit).map((row) => this.#checked(row));
    const last = shown.at(-1);
    return {
      artifacts: shown.map((info) => ({ ...info, owners: this.#ownersOf(info.artifact_id) })),
      next: rows.length > limit && last ? `${last[by]}.${last.artifact_id}` : null,
    };
  }

  async owners(artifactId: string): Promise<ArtifactOwner[]> {
    shaOf(artifactId);
    return this.#ownersOf(artifactId);
  }

  async usage(): Promise<{ count: number; bytes: number }> {
    const row = this.#usage.get();
    return row === undefined ? { count: 0, bytes: 0 } : { count: int(row, "count"), bytes: int(row, "bytes") };
  }

  #ownersOf(artifactId: string): ArtifactOwner[] {
    return this.#owners.all(artifactId).map((row) => ({ kind: text(row, "kind") as StreamKind, id: text(row, "id") }));
  }

  write(): void {
    for (const info of this.#pending.values()) {
      const { artifact_id, kind, mime, name, bytes, created_at } = info;
      this.#insert.run(artifact_id, kind, mime, name, bytes, created_at, checksumOf(artifact_id), rowChecksum(info));
    }
    for (const { artifactId, stream } of this.#links.values()) this.#link.run(artifactId, stream, checksumOf(artifactId, stream));
  }

  settle(): void {
    this.#pending = new Map();
    this.#links = new Map();
  }

  /** Inside a transaction: what belonged to this stream alone is not there any more. Its files go with `removeFiles`, after the commit. */
  release(stream: number): void {
    const ids = this.#ofStream.all(stream).map((row) => text(row, "artifact_id"));
    this.#unlinkStream.run(stream);
    for (const [key, link] of this.#links) if (link.stream === stream) this.#links.delete(key);
    for (const id of ids) {
      if (this.#isWanted(id)) continue;
      this.#delete.run(id);
      this.#addRemoval.run(id);
    }
  }

  /** True while a stream has it, or is about to. */
  #isWanted(artifactId: string): boolean {
    const left = this.#linksLeft.get(artifactId);
    if (left !== undefined && int(left, "count") > 0) return true;
    return [...this.#links.values()].some((link) => link.artifactId === artifactId);
  }

  /** After the commit of `release`: unlinks the files, also those that an earlier stop left behind. Says which are gone; the others are kept in mind. */
  removeFiles(): { gone: string[]; failure?: LogError } {
    const gone: string[] = [];
    let failure: LogError | undefined;
    for (const row of this.#removals.all()) {
      const id = text(row, "artifact_id");
      try {
        if (this.#stat(id) === undefined) this.#files.remove(shaOf(id));
        gone.push(id);
      } catch (error) {
        failure = toLogError(error, `Removing ${id}`);
      }
    }
    return failure === undefined ? { gone } : { gone, failure };
  }

  /** Inside a transaction: their files need not be looked for again. */
  endRemovals(ids: readonly string[]): void {
    for (const id of ids) this.#endRemoval.run(id);
  }
}

function shaOf(artifactId: string): string {
  const sha = ARTIFACT_ID.exec(artifactId)?.[1];
  if (sha === undefined)
    throw new LogError("invalid_artifact_id", "An artifact id is art_ and 64 hex digits. Take it from an event.");
  return sha;
}

const rowChecksum = ({ artifact_id, kind, mime, name, bytes, created_at }: ArtifactInfo): number =>
  checksumOf(artifact_id, kind, mime, name, bytes, created_at);

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
