/**
 * What is done beside the log, in a thread of its own where there is one: the search index, and writing the WAL back into the database. Both may take long
 * and wait for the disk; the log's own thread must not.
 */
import { join } from "node:path";
import type { SearchIndex, StreamKind } from "../contract.ts";
import { int } from "../packing/row-readers.ts";
import { type Database, openDatabase } from "./driver.ts";
import { DATABASE_FILE } from "./refusal.ts";
import { SqliteSearch } from "./search.ts";

/** The search index with what only the engine asks of it. */
export interface SearchStore extends SearchIndex {
  /** Resolves when the texts of the stream are gone. */
  forget(stream: { kind: StreamKind; id: string }): Promise<void>;
  /** Streams that it has texts of, with greater numbers, some of them. */
  streamsBehind(no: number): Promise<{ no: number; kind: StreamKind; id: string }[]>;
  close(): Promise<void>;
}

export type BackgroundWork = SearchStore & {
  /** Writes back what it can without making anybody wait. */
  writeBack(): Promise<WrittenBack>;
};

/** Pages in the WAL, and how many of them are in the database too. When all are, the next commit begins the WAL anew. */
export type WrittenBack = { pages: number; written: number };

export type BackgroundPlace = { dataDir: string; logId: string };

export const BACKGROUND_CALLS = [
  "cursor",
  "put",
  "find",
  "findStreams",
  "reset",
  "forget",
  "streamsBehind",
  "writeBack",
  "close",
] as const satisfies readonly (keyof BackgroundWork)[];

export function backgroundWork({ dataDir, logId }: BackgroundPlace): BackgroundWork {
  const search = new SqliteSearch(dataDir, logId);
  let log: Promise<Database> | undefined;
  return {
    cursor: () => search.cursor(),
    put: (change, cursor) => search.put(change, cursor),
    find: (options) => search.find(options),
    findStreams: (text, options) => search.findStreams(text, options),
    reset: () => search.reset(),
    forget: (stream) => search.forget(stream),
    streamsBehind: (no) => search.streamsBehind(no),
    async writeBack() {
      log ??= openDatabase(join(dataDir, DATABASE_FILE));
      const row = (await log).prepare("PRAGMA wal_checkpoint(PASSIVE)").get() ?? {};
      return { pages: int(row, "log"), written: int(row, "checkpointed") };
    },
    async close() {
      await search.close();
      (await log?.catch(() => undefined))?.close();
    },
  };
}
