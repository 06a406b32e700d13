/** The writer of a stream in memory. A writer that was replaced is refused. */
import type {
  ArtifactInfo,
  ArtifactWriter,
  Batch,
  CoverageRow,
  EventEntry,
  NativeEntry,
  NativePage,
  NativeRow,
  ReadOptions,
  ReadPage,
  StreamDocuments,
  StreamKind,
  StreamRow,
  StreamWriter,
  SubscribeOptions,
  Subscription,
} from "../contract.ts";
import { type MemoryDocuments, prefixOf } from "./documents.ts";
import type { MemoryStream } from "./stream.ts";

/** What a writer needs of the log that holds its stream. */
export interface WriterHost {
  readonly store: MemoryDocuments;
  readonly commits: number;
  enlist(stream: MemoryStream): void;
  committed(): Promise<void>;
  putArtifact(stream: MemoryStream, bytes: Buffer, about: { kind: string; mime: string; name?: string }): ArtifactInfo;
}

export class MemoryWriter implements StreamWriter {
  readonly epoch: number;
  readonly documents: StreamDocuments;
  readonly artifacts: ArtifactWriter;
  readonly #log: WriterHost;
  readonly #stream: MemoryStream;

  constructor(log: WriterHost, stream: MemoryStream, epoch: number) {
    this.epoch = epoch;
    this.#log = log;
    this.#stream = stream;
    stream.takeWriter(epoch);
    const prefix = prefixOf(stream);
    this.documents = {
      list: (kind) =>
        log.store
          .list(kind, { prefix, limit: Number.POSITIVE_INFINITY })
          .map(({ id, body }) => ({ id: id.slice(prefix.length), body })),
      put: (kind, id, body) => this.#change(() => log.store.put(kind, prefix + id, body)),
      delete: (kind, id) => this.#change(() => log.store.delete(kind, prefix + id)),
    };
    this.artifacts = {
      put: (bytes, about) => {
        stream.admit(epoch);
        return log.putArtifact(stream, bytes, about);
      },
    };
  }

  get kind(): StreamKind {
    return this.#stream.kind;
  }
  get id(): string {
    return this.#stream.id;
  }
  get created_at(): number {
    return this.#stream.created_at;
  }
  get last(): number {
    return this.#stream.last;
  }
  get lastCommitted(): number {
    return this.#stream.lastCommitted;
  }
  get updatedAt(): number {
    return this.#stream.updatedAt;
  }
  get lastNative(): number {
    return this.#stream.lastNative;
  }
  get commits(): number {
    return this.#log.commits;
  }

  append(entry: EventEntry): void {
    this.#stream.admit(this.epoch);
    this.#stream.append(entry);
  }

  appendNative(entry: NativeEntry): number {
    this.#stream.admit(this.epoch);
    return this.#stream.appendNative(entry);
  }

  state(): string {
    return this.#stream.newestState;
  }

  setState(json: string): void {
    this.#change(() => {
      this.#stream.newestState = json;
    });
  }

  openSince(): number | null {
    return this.#stream.newestOpenSince;
  }

  setOpenSince(sequence: number | null): void {
    this.#change(() => {
      this.#stream.newestOpenSince = sequence;
    });
  }

  committed(): Promise<void> {
    return this.#log.committed();
  }

  row(): Promise<StreamRow> {
    return this.#stream.row();
  }
  read(options?: ReadOptions): Promise<ReadPage> {
    return this.#stream.read(options);
  }
  readRaw(nativeSeqs: Iterable<number>): Promise<Map<number, NativeRow>> {
    return this.#stream.readRaw(nativeSeqs);
  }
  readNative(options?: { after?: number; limit?: number; maxBytes?: number }): Promise<NativePage> {
    return this.#stream.readNative(options);
  }
  coverage(): Promise<CoverageRow[]> {
    return this.#stream.coverage();
  }
  assertCursor(cursor: { sequence: number; epoch: string }): Promise<void> {
    return this.#stream.assertCursor(cursor);
  }
  subscribe(options: SubscribeOptions<Batch> & { after?: number }): Subscription {
    return this.#stream.subscribe(options);
  }

  #change(work: () => void): void {
    this.#stream.admit(this.epoch);
    work();
    this.#log.enlist(this.#stream);
  }
}
