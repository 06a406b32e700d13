/**
 * The writer of one stream: everything it enqueues is checked against its epoch first, so that a writer that was replaced changes nothing any more.
 */
import type { ArtifactWriter, EventEntry, NativeEntry, StreamDocuments, StreamWriter } from "../contract.ts";
import { documentPrefix } from "../document-prefix.ts";
import { StreamFront } from "../stream-front.ts";
import type { PostgresArtifacts } from "./artifacts.ts";
import type { Committer, Enlisted } from "./committer.ts";
import type { PostgresDocuments } from "./documents.ts";
import type { PostgresStream } from "./stream.ts";

export type WriterContext = { committer: Committer; documents: PostgresDocuments; artifacts: PostgresArtifacts };

export class PostgresWriter extends StreamFront<PostgresStream> implements StreamWriter {
  readonly epoch: number;
  readonly documents: StreamDocuments;
  readonly artifacts: ArtifactWriter;
  readonly #committer: Committer;
  readonly #name: number;
  readonly #mine: readonly Enlisted[];

  /** For the writer of the stream that was taken last. */
  constructor(stream: PostgresStream, epoch: number, { committer, documents, artifacts }: WriterContext) {
    super(stream);
    this.epoch = epoch;
    this.#committer = committer;
    const name = stream.writer;
    this.#name = name;
    this.#mine = [stream, documents, artifacts];
    const own = documentPrefix(stream);
    const change = (kind: string, id: string, body: string | null, options?: { sync?: boolean; apart?: boolean }): void => {
      stream.admit(name);
      documents.putOf(stream.no, kind, own + id, body, options);
      // With the stream's own row in the commit, they are fenced with it: documents do not wait, so it does not.
      stream.touch({ sync: true });
    };
    this.documents = {
      list: (kind) => documents.of(stream.no, kind).map(({ id, body }) => ({ id: id.slice(own.length), body })),
      put: (kind, id, body, options) => change(kind, id, body, options),
      delete: (kind, id) => change(kind, id, null),
    };
    this.artifacts = {
      put: (bytes, about) => {
        stream.admit(name);
        return artifacts.put(stream.no, bytes, about);
      },
    };
  }

  get enqueuedMark(): number {
    return this.stream.enqueuedMark;
  }
  get committedMark(): number {
    return this.stream.committedMark;
  }

  append(entry: EventEntry): void {
    this.stream.admit(this.#name);
    this.stream.append(entry);
  }

  appendNative(entry: NativeEntry): number {
    this.stream.admit(this.#name);
    return this.stream.appendNative(entry);
  }

  state(): string {
    return this.stream.state();
  }

  setState(json: string, options?: { sync?: boolean }): void {
    this.stream.admit(this.#name);
    this.stream.setState(json, options);
  }

  openSince(): number | null {
    return this.stream.openSince();
  }

  setOpenSince(sequence: number | null): void {
    this.stream.admit(this.#name);
    this.stream.setOpenSince(sequence);
  }

  async committed(options: { bounded?: boolean } = {}): Promise<void> {
    await this.#committer.committed(options.bounded ?? true, this.#mine);
    const refusal = this.stream.refusalOf(this.#name);
    if (refusal !== undefined && refusal.code !== "stream_deleted") throw refusal;
  }
}
