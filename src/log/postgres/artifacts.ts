/**
 * Content-addressed bytes in Postgres, in rows of 256 kB, stored in the commit that names them. Where there is a bucket they are moved there afterwards (`ArtifactMover`), and read from where they are. An
 * artifact goes with the last of its streams.
 */
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { ProblemError } from "../../schema/problem-codes.ts";
import type {
  ArtifactAbout,
  ArtifactInfo,
  ArtifactListOptions,
  ArtifactOwner,
  ArtifactPage,
  Artifacts,
  StreamKind,
} from "../contract.ts";
import { LogError } from "../log-error.ts";
import type { Damage } from "../packing/damage.ts";
import { blob, int, type SqlRow, text, textOrNull, word } from "../packing/row-readers.ts";
import { textArray } from "./attempt.ts";
import type { Committer, Enlisted } from "./committer.ts";
import type { Database, Sql, SqlParameter } from "./connection.ts";
import { toLogError } from "./errors.ts";
import { type S3, S3Error } from "./s3.ts";
import { type ArtifactLink, type ArtifactPart, PART_BYTES, type WriteSet } from "./write-set.ts";

const ARTIFACT_ID = /^art_([0-9a-f]{64})$/;
const COLUMNS = "a.artifact_id, a.kind, a.mime, a.name, a.bytes, a.created_at";
/** Descriptions, links and checked hashes that are remembered. */
const REMEMBERED = 10_000;

type Changes = { artifacts: Map<string, ArtifactPart>; links: Map<string, ArtifactLink> };
const nothing = (): Changes => ({ artifacts: new Map(), links: new Map() });

type ArtifactsContext = { committer: Committer; damage: Damage; bucket?: S3 | undefined };

export class PostgresArtifacts implements Artifacts, Enlisted {
  readonly followers = 1;
  readonly isShared = true;
  readonly #database: Database;
  readonly #tenant: string;
  readonly #committer: Committer;
  readonly #damage: Damage;
  readonly #bucket: S3 | undefined;
  #pending = nothing();
  #inFlight = nothing();
  /** Described and linked by this process: what is put again is there already. */
  readonly #known = new Map<string, ArtifactInfo>();
  readonly #linked = new Set<string>();
  /** Whose bytes were compared with their hash. */
  readonly #verified = new Set<string>();

  constructor(database: Database, tenant: string, { committer, damage, bucket }: ArtifactsContext) {
    this.#database = database;
    this.#tenant = tenant;
    this.#committer = committer;
    this.#damage = damage;
    this.#bucket = bucket;
  }

  /** For the stream of this number. What another process said of the same bytes before is kept instead of this. */
  put(stream: number, bytes: Buffer, about: ArtifactAbout): ArtifactInfo {
    const sha = createHash("sha256").update(bytes).digest("hex");
    const artifactId = `art_${sha}`;
    const link = `${artifactId} ${stream}`;
    const info =
      this.#described(artifactId) ??
      describe(artifactId, about.kind, about.mime, about.name ?? null, bytes.length, about.created_at ?? Date.now());
    if (this.#linked.has(link) || this.#pending.links.has(link) || this.#inFlight.links.has(link)) return info;
    this.#pending.links.set(link, { artifactId, stream });
    this.#pending.artifacts.set(artifactId, { info, bytes });
    this.#committer.enlist(this, bytes.length + 256, false);
    return info;
  }

  #described(artifactId: string): ArtifactInfo | undefined {
    const change = this.#pending.artifacts.get(artifactId) ?? this.#inFlight.artifacts.get(artifactId);
    return change?.info ?? this.#known.get(artifactId);
  }

  async stat(artifactId: string): Promise<ArtifactInfo | undefined> {
    shaOf(artifactId);
    const change = this.#pending.artifacts.get(artifactId) ?? this.#inFlight.artifacts.get(artifactId);
    if (change !== undefined) return change.info;
    const rows = await this.#query(`SELECT ${COLUMNS} FROM dragoman.artifacts a WHERE a.tenant = $1 AND a.artifact_id = $2`, [
      this.#tenant,
      artifactId,
    ]);
    return rows[0] && infoOf(rows[0]);
  }

  async openRead(artifactId: string, range: { start?: number; end?: number } = {}): Promise<Readable | undefined> {
    const info = await this.stat(artifactId);
    if (info === undefined) return undefined;
    const change = this.#pending.artifacts.get(artifactId) ?? this.#inFlight.artifacts.get(artifactId);
    const [start, end] = [range.start ?? 0, Math.min(range.end ?? info.bytes - 1, info.bytes - 1)];
    if (change !== undefined) return Readable.from([change.bytes.subarray(start, end + 1)]);
    await this.#verify(info);
    return Readable.from(this.#bytes(artifactId, start, end), { objectMode: false });
  }

  async *#bytes(artifactId: string, start: number, end: number): AsyncGenerator<Buffer> {
    for (let part = Math.floor(start / PART_BYTES); part * PART_BYTES <= end; part++) {
      const body = await this.#part(artifactId, part);
      const from = part * PART_BYTES;
      if (body === undefined) return yield* await this.#object(artifactId, Math.max(start, from), end);
      yield body.subarray(Math.max(0, start - from), end - from + 1);
    }
  }

  async #part(artifactId: string, part: number): Promise<Buffer | undefined> {
    const rows = await this.#query(
      "SELECT body FROM dragoman.artifact_parts WHERE tenant = $1 AND artifact_id = $2 AND part = $3",
      [this.#tenant, artifactId, part],
    );
    return rows[0] && blob(rows[0], "body");
  }

  /** The rest of one whose rows are not in the database any more. */
  async #object(artifactId: string, start: number, end: number): Promise<AsyncIterable<Buffer>> {
    const rows = await this.#query("SELECT object FROM dragoman.artifacts WHERE tenant = $1 AND artifact_id = $2", [
      this.#tenant,
      artifactId,
    ]);
    const object = rows[0] && textOrNull(rows[0], "object");
    if (!object) throw this.#damage.artifact(artifactId, "a part of it is missing");
    if (!this.#bucket)
      throw new ProblemError("not_ready", "Its bytes are in a bucket, and this daemon was started without --artifacts.");
    try {
      return await this.#bucket.get(object, { start, end });
    } catch (error) {
      if (!(error instanceof S3Error)) throw error;
      if (error.reason === "missing") throw this.#damage.artifact(artifactId, "its object is not in the bucket");
      throw new ProblemError("not_ready", `Its bytes cannot be read now: ${error.message}`);
    }
  }

  /** Once, before the first bytes are given out. */
  async #verify({ artifact_id, bytes }: ArtifactInfo): Promise<void> {
    if (this.#verified.has(artifact_id)) return;
    const hash = createHash("sha256");
    for await (const body of this.#bytes(artifact_id, 0, bytes - 1)) hash.update(body);
    if (hash.digest("hex") !== shaOf(artifact_id)) throw this.#damage.artifact(artifact_id, "its bytes are not what its id says");
    if (this.#verified.size >= REMEMBERED) this.#verified.clear();
    this.#verified.add(artifact_id);
  }

  async list(options: ArtifactListOptions = {}): Promise<ArtifactPage> {
    const { order = "newest", limit = 100, min_bytes = 0, kind, of, before } = options;
    const by = order === "newest" ? "created_at" : "bytes";
    const wheres = ["a.tenant = $1", "a.bytes >= $2"];
    const values: SqlParameter[] = [this.#tenant, min_bytes];
    const name = (value: SqlParameter): string => `$${values.push(value)}`;
    if (kind !== undefined) wheres.push(`a.kind = ${name(kind)}`);
    if (of !== undefined)
      wheres.push(`a.artifact_id IN (
        SELECT l.artifact_id FROM dragoman.artifact_streams l JOIN dragoman.streams s ON s.no = l.stream
        JOIN unnest(${name(textArray(of.map((owner) => owner.kind)))}::text[], ${name(textArray(of.map((owner) => owner.id)))}::text[]) AS u(kind, id)
          ON u.kind = s.kind AND u.id = s.id WHERE s.tenant = $1)`);
    const place = /^(\d+)\.(art_[0-9a-f]{64})$/.exec(before ?? "");
    if (place) wheres.push(`(a.${by}, a.artifact_id) < (${name(Number(place[1]))}, ${name(place[2] ?? "")})`);
    const rows = await this.#query(
      `SELECT ${COLUMNS} FROM dragoman.artifacts a WHERE ${wheres.join(" AND ")} ORDER BY a.${by} DESC, a.artifact_id DESC LIMIT ${limit + 1}`,
      values,
    );
    const shown = rows.slice(0, limit).map(infoOf);
    const owners = await this.#ownersOf(shown.map(({ artifact_id }) => artifact_id));
    const last = shown.at(-1);
    return {
      artifacts: shown.map((info) => ({ ...info, owners: owners.get(info.artifact_id) ?? [] })),
      next: rows.length > limit && last ? `${last[by]}.${last.artifact_id}` : null,
    };
  }

  async owners(artifactId: string): Promise<ArtifactOwner[]> {
    shaOf(artifactId);
    return (await this.#ownersOf([artifactId])).get(artifactId) ?? [];
  }

  async usage(): Promise<{ count: number; bytes: number }> {
    const rows = await this.#query(
      "SELECT count(*) AS count, coalesce(sum(bytes), 0)::bigint AS bytes FROM dragoman.artifacts WHERE tenant = $1",
      [this.#tenant],
    );
    return rows[0] === undefined ? { count: 0, bytes: 0 } : { count: int(rows[0], "count"), bytes: int(rows[0], "bytes") };
  }

  take(set: WriteSet): void {
    this.#inFlight = this.#pending;
    this.#pending = nothing();
    set.artifacts.push(...this.#inFlight.artifacts.values());
    set.links.push(...this.#inFlight.links.values());
  }

  settle(): void {
    if (this.#known.size + this.#linked.size >= REMEMBERED) this.forgetAll();
    for (const [id, { info }] of this.#inFlight.artifacts) this.#known.set(id, info);
    for (const link of this.#inFlight.links.keys()) this.#linked.add(link);
    this.#inFlight = nothing();
  }

  /** Nothing of this stream is to be committed any more. */
  drop(stream: number): void {
    for (const { links } of [this.#pending, this.#inFlight])
      for (const [name, link] of links) if (link.stream === stream) links.delete(name);
  }

  /** Streams were deleted: what was remembered may be gone. */
  forgetAll(): void {
    this.#known.clear();
    this.#linked.clear();
    this.#verified.clear();
  }

  async #ownersOf(ids: readonly string[]): Promise<Map<string, ArtifactOwner[]>> {
    const owners = new Map<string, ArtifactOwner[]>();
    const rows = await this.#query(
      `SELECT l.artifact_id, s.kind, s.id FROM dragoman.artifact_streams l JOIN dragoman.streams s ON s.no = l.stream
       WHERE l.tenant = $1 AND l.artifact_id = ANY($2::text[]) AND NOT s.deleted ORDER BY s.no`,
      [this.#tenant, textArray(ids)],
    );
    for (const row of rows) {
      const id = text(row, "artifact_id");
      owners.set(id, [...(owners.get(id) ?? []), { kind: word<StreamKind>(row, "kind"), id: text(row, "id") }]);
    }
    return owners;
  }

  async #query(sql: string, values: readonly SqlParameter[]): Promise<SqlRow[]> {
    try {
      return (await this.#database.query(sql, values)).rows;
    } catch (error) {
      throw toLogError(error, "Reading artifacts");
    }
  }
}

/** Inside a transaction: what belonged to this stream alone is not there any more. */
export async function releaseArtifacts(sql: Sql, tenant: string, stream: number): Promise<void> {
  const released = await sql.query("DELETE FROM dragoman.artifact_streams WHERE stream = $1 RETURNING artifact_id", [stream]);
  if (released.count === 0) return;
  const ids = textArray(released.rows.map((row) => text(row, "artifact_id")));
  // First the lock, then, in a statement of its own, the question: a commit that links it again is waited for, and seen.
  await sql.query(
    "SELECT 1 FROM dragoman.artifacts WHERE tenant = $1 AND artifact_id = ANY($2::text[]) ORDER BY artifact_id FOR UPDATE",
    [tenant, ids],
  );
  await sql.query(
    `WITH gone AS (
       DELETE FROM dragoman.artifacts a WHERE a.tenant = $1 AND a.artifact_id = ANY($2::text[])
         AND NOT EXISTS (SELECT 1 FROM dragoman.artifact_streams l WHERE l.tenant = $1 AND l.artifact_id = a.artifact_id)
       RETURNING a.artifact_id, a.object)
     , objects AS (INSERT INTO dragoman.object_garbage (object, tenant) SELECT gone.object, $1 FROM gone WHERE gone.object IS NOT NULL)
     DELETE FROM dragoman.artifact_parts p USING gone WHERE p.tenant = $1 AND p.artifact_id = gone.artifact_id`,
    [tenant, ids],
  );
}

function shaOf(artifactId: string): string {
  const sha = ARTIFACT_ID.exec(artifactId)?.[1];
  if (sha === undefined)
    throw new LogError("invalid_artifact_id", "An artifact id is art_ and 64 hex digits. Take it from an event.");
  return sha;
}

function infoOf(row: SqlRow): ArtifactInfo {
  const [kind, mime, name] = [text(row, "kind"), text(row, "mime"), textOrNull(row, "name")];
  return describe(text(row, "artifact_id"), kind, mime, name, int(row, "bytes"), int(row, "created_at"));
}

function describe(id: string, kind: string, mime: string, name: string | null, bytes: number, created_at: number): ArtifactInfo {
  return { artifact_id: id, path: `/v1/artifacts/${id}`, bytes, digest: `sha256:${id.slice(4)}`, mime, kind, name, created_at };
}
