/**
 * The writer of one stream: everything it enqueues is checked against its epoch first, so that a writer that was replaced changes nothing any more.
 */
import type { ArtifactWriter, EventEntry, NativeEntry, StreamDocuments, StreamWriter } from "../contract.ts";
import { documentPrefix } from "../document-prefix.ts";
import { StreamFront } from "../stream-front.ts";
import type { SqliteArtifacts } from "./artifacts.ts";
import type { Committer } from "./committer.ts";
import type { SqliteDocuments } from "./documents.ts";
import type { SqliteStream } from "./sqlite-stream.ts";

export type WriterContext = { committer: Committer; documents: SqliteDocuments; artifacts: SqliteArtifacts };

export class SqliteWriter extends StreamFront<SqliteStream> implements StreamWriter {
  readonly epoch: number;
  readonly documents: StreamDocuments;
  readonly artifacts: ArtifactWriter;
  readonly #committer: Committer;

  constructor(stream: SqliteStream, epoch: number, { committer, documents, artifacts }: WriterContext) {
    super(stream);
    this.epoch = epoch;
    this.#committer = committer;
    stream.takeWriter(epoch);
    const own = documentPrefix(stream);
    this.documents = {
      list: (kind) =>
        documents
          .listNow(kind, { prefix: own, limit: MAX_DOCUMENTS })
          .map(({ id, body }) => ({ id: id.slice(own.length), body })),
      put: (kind, id, body, options) => {
        stream.admit(epoch);
        documents.put(kind, own + id, body, options);
      },
      delete: (kind, id) => {
        stream.admit(epoch);
        documents.delete(kind, own + id);
      },
    };
    this.artifacts = {
      put: (bytes, about) => {
        stream.admit(epoch);
        return artifacts.put(stream.no, bytes, about);
      },
    };
  }

  get enqueuedMark(): number {
    return this.#committer.commits + 1;
  }
  get committedMark(): number {
    return this.#committer.commits;
  }

  append(entry: EventEntry): void {
    this.stream.admit(this.epoch);
    this.stream.append(entry);
  }

  appendNative(entry: NativeEntry): number {
    this.stream.admit(this.epoch);
    return this.stream.appendNative(entry);
  }

  state(): string {
    return this.stream.state();
  }

  setState(json: string, options?: { sync?: boolean }): void {
    this.stream.admit(this.epoch);
    this.stream.setState(json, options);
  }

  openSince(): number | null {
    return this.stream.openSince();
  }

  setOpenSince(sequence: number | null): void {
    this.stream.admit(this.epoch);
    this.stream.setOpenSince(sequence);
  }

  committed(options: { bounded?: boolean } = {}): Promise<void> {
    return this.#committer.committed(options.bounded ?? true);
  }
}

/** More than any stream has. */
const MAX_DOCUMENTS = 1_000_000;
