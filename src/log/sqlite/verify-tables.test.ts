import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { checksumOf } from "../packing/checksum.ts";
import { Damage } from "../packing/damage.ts";
import { type Database, openDatabase } from "./driver.ts";
import { migrations, runSteps } from "./migrations.ts";
import { documentChecksum, verifyTables } from "./verify-tables.ts";

/** More than are read one by one. */
const COUNT = 5_200;

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

/** A database with very many streams and documents, closed. */
async function manyRows(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "dragoman-tables-"));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "log.db");
  const db = await openDatabase(file);
  runSteps(db, migrations);
  const stream = db.prepare(
    "INSERT INTO streams (no, kind, id, created_at, updated_at, last_sequence, last_native, state) VALUES (?, 'session', ?, ?, ?, 0, 0, '{}')",
  );
  const document = db.prepare(
    "INSERT INTO documents (kind, id, body, expires_at, key_checksum, row_checksum) VALUES ('note', ?, '{}', NULL, ?, ?)",
  );
  db.exec("BEGIN");
  for (let no = 1; no <= COUNT; no++) {
    stream.run(no, `stream-${no}-end`, no, no);
    const id = `document-${no}-end`;
    document.run(id, checksumOf("note", id), documentChecksum("note", id, "{}", null));
  }
  db.exec("COMMIT");
  db.close();
  return file;
}

async function verified(file: string, change?: (db: Database) => void): Promise<unknown> {
  const db = await openDatabase(file);
  try {
    change?.(db);
    return await verifyTables(db, new Damage(() => undefined), migrations).catch((error: unknown) => error);
  } finally {
    db.close();
  }
}

/** Where a text stands in the file. */
function places(bytes: Buffer, text: string): number[] {
  const found: number[] = [];
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) found.push(at);
  return found;
}

describe("a database with very many rows", () => {
  it("is accepted when nothing was changed", async () => {
    expect(await verified(await manyRows())).toBeUndefined();
  });

  it.each(["stream-4321-end", "document-4321-end"])(
    "is refused when one bit of a key has changed, wherever it stands: %s",
    async (key) => {
      const file = await manyRows();
      const bytes = readFileSync(file);
      const found = places(bytes, key);
      expect(found.length).toBeGreaterThan(0);
      for (const place of found) {
        const changed = Buffer.from(bytes);
        // The last digit: the order of the keys stays as it is, so no other check meets it.
        const digit = place + key.indexOf("1-end");
        changed[digit] = (changed[digit] ?? 0) ^ 0x08;
        writeFileSync(file, changed);
        expect(await verified(file), `changed at ${place}`).toMatchObject({ code: "database_corrupt" });
      }
    },
  );

  it("is refused when a stream says that it is deleted and has a name", async () => {
    const change = (db: Database): void => db.exec("UPDATE streams SET deleted = 1 WHERE no = 77");
    expect(await verified(await manyRows(), change)).toMatchObject({ code: "database_corrupt" });
  });
});
