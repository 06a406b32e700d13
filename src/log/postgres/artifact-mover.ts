/**
 * Artifacts on their way from the database into a bucket. Their bytes are committed with the events that name them, as rows; one node moves them afterwards: it puts the object, and only when that is done the rows go. So a
 * bucket that cannot be reached, or whose keys are wrong, loses nothing and stops nobody: the bytes stay in the database until it can. A name of an object is used once: what is to be removed can never be what was put anew.
 */
import { randomBytes } from "node:crypto";
import { blob, int, text } from "../packing/row-readers.ts";
import type { Database } from "./connection.ts";
import type { MigrationRoom } from "./migrations.ts";
import type { S3 } from "./s3.ts";

/** `object`: where its bytes are; null: in `artifact_parts`. */
export const OBJECT_TABLES: MigrationRoom = {
  room: "objects",
  steps: [
    `ALTER TABLE dragoman.artifacts ADD COLUMN object text;
     CREATE TABLE dragoman.object_garbage (object text PRIMARY KEY, tenant text NOT NULL, since timestamptz NOT NULL DEFAULT now())`,
  ],
};

/** At once. */
const BATCH = 16;
/** A backup that is restored may name objects that were removed since: they are kept for so long. */
const GARBAGE_DAYS = 30;

export class ArtifactMover {
  readonly #database: Database;
  readonly #tenant: string;
  readonly #bucket: S3;
  readonly #garbageDays: number;

  constructor(database: Database, tenant: string, bucket: S3, garbageDays = GARBAGE_DAYS) {
    this.#database = database;
    this.#tenant = tenant;
    this.#bucket = bucket;
    this.#garbageDays = garbageDays;
  }

  /** A portion. How many were moved; 0: there are no more that can be. Throws `S3Error`; then all are where they were. */
  async move(): Promise<number> {
    const { rows } = await this.#database.query(
      `SELECT a.artifact_id, a.bytes, a.object FROM dragoman.artifacts a
       WHERE a.tenant = $1 AND a.artifact_id IN (SELECT p.artifact_id FROM dragoman.artifact_parts p WHERE p.tenant = $1 LIMIT ${BATCH * 64})
       LIMIT ${BATCH}`,
      [this.#tenant],
    );
    let moved = 0;
    for (const row of rows) if (await this.#moveOne(text(row, "artifact_id"), int(row, "bytes"), row.object !== null)) moved++;
    return moved;
  }

  /** Objects whose artifacts are gone. */
  async sweep(): Promise<number> {
    const { rows } = await this.#database.query(
      `SELECT object FROM dragoman.object_garbage WHERE tenant = $1 AND since <= now() - make_interval(days => $2) LIMIT ${BATCH}`,
      [this.#tenant, this.#garbageDays],
    );
    for (const row of rows) {
      await this.#bucket.remove(text(row, "object"));
      await this.#database.query("DELETE FROM dragoman.object_garbage WHERE object = $1", [text(row, "object")]);
    }
    return rows.length;
  }

  /** One that is there already was put again by another session: its rows are not needed. */
  async #moveOne(artifactId: string, bytes: number, isThere: boolean): Promise<boolean> {
    const object = `${artifactId}/${randomBytes(8).toString("hex")}`;
    if (!isThere) {
      const body = await this.#bytes(artifactId);
      // Damaged rows stay, and count as not moved: who reads them gets the error.
      if (body.length !== bytes) return false;
      await this.#bucket.put(object, body);
    }
    await this.#database.transaction(async (sql) => {
      const { rows } = await sql.query(
        "SELECT object FROM dragoman.artifacts WHERE tenant = $1 AND artifact_id = $2 FOR UPDATE",
        [this.#tenant, artifactId],
      );
      const stored = rows[0]?.object;
      // It was removed meanwhile, or another node was quicker.
      if (!isThere && (rows.length === 0 || typeof stored === "string"))
        await sql.query("INSERT INTO dragoman.object_garbage (object, tenant) VALUES ($1, $2)", [object, this.#tenant]);
      else if (!isThere)
        await sql.query("UPDATE dragoman.artifacts SET object = $3 WHERE tenant = $1 AND artifact_id = $2", [
          this.#tenant,
          artifactId,
          object,
        ]);
      if (rows.length > 0 && (!isThere || typeof stored === "string"))
        await sql.query("DELETE FROM dragoman.artifact_parts WHERE tenant = $1 AND artifact_id = $2", [this.#tenant, artifactId]);
    });
    return true;
  }

  async #bytes(artifactId: string): Promise<Buffer> {
    const { rows } = await this.#database.query(
      "SELECT body FROM dragoman.artifact_parts WHERE tenant = $1 AND artifact_id = $2 ORDER BY part",
      [this.#tenant, artifactId],
    );
    return Buffer.concat(rows.map((row) => blob(row, "body")));
  }
}
