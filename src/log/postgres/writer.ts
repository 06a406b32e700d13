/**
 * The writer of one stream: everything it enqueues is checked against its epoch first, so that a writer that was replaced changes nothing any more.
 */
import type {
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
import type { PostgresArtifacts } from "./artifacts.ts";
import type { Committer } from "./committer.ts";
import type { PostgresDocuments } from "./documents.ts";
import type { PostgresStream } from "./stream.ts";

export type WriterContext = { committer: Committer; documents: PostgresDocuments; artifacts: PostgresArtifacts };

export class PostgresWriter implements StreamWriter {
  readonly epoch: number;
  readonly documents: StreamDocuments;
  readonly artifacts: ArtifactWriter;
  readonly #stream: PostgresStream;
  readonly #committer: Committer;
  readonly #name: number;

  /** For the writer of the stream that was taken last. */
  constructor(stream: PostgresStream, epoch: number, { committer, documents, artifacts }: WriterContext) {
    this.epoch = epoch;
    this.#stream = stream;
    this.#committer = committer;
    const name = stream.writer;
    this.#name = name;
    const own = documentPrefix(stream);
    const change = (kind: string, id: string, body: string | null, sync?: boolean): void => {
      stream.admit(name);
      documents.putOf(stream.no, kind, own + id, body, sync);
      // With the stream's own row in the commit, they are fenced with it.
      stream.touch();
    };
    this.documents = {
      list: (kind) => documents.of(stream.no, kind).map(({ id, body }) => ({ id: id.slice(own.length), body })),
      put: (kind, id, body, options) => change(kind, id, body, options?.sync),
      delete: (kind, id) => change(kind, id, null),
    };
    this.artifacts = {
      put: (bytes, about) => {
        stream.admit(name);
        return artifacts.put(stream.no, bytes, about);
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
    return this.#committer.commits;
  }

  append(entry: EventEntry): void {
    this.#stream.admit(this.#name);
    this.#stream.append(entry);
  }

  appendNative(entry: NativeEntry): number {
    this.#stream.admit(this.#name);
    return this.#stream.appendNative(entry);
  }

  state(): string {
    return this.#stream.state();
  }

  setState(json: string, options?: { sync?: boolean }): void {
    this.#stream.admit(this.#name);
    this.#stream.setState(json, options);
  }

  openSince(): number | null {
    return this.#stream.openSince();
  }

  setOpenSince(sequence: number | null): void {
    this.#stream.admit(this.#name);
    this.#stream.setOpenSince(sequence);
  }

  async committed(options: { bounded?: boolean } = {}): Promise<void> {
    await this.#committer.committed(options.bounded ?? true);
    const { refusal } = this.#stream;
    if (refusal !== undefined && refusal.code !== "stream_deleted") throw refusal;
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
}

/** Ids of documents begin with that of their stream. Sessions came first, and have no word for their kind. */
export const documentPrefix = ({ kind, id }: { kind: StreamKind; id: string }): string =>
  kind === "session" ? `${id}/` : `${kind}:${id}/`;
