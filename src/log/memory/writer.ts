/** The writer of a stream in memory. A writer that was replaced is refused. */
import type { ArtifactInfo, ArtifactWriter, EventEntry, NativeEntry, StreamDocuments, StreamWriter } from "../contract.ts";
import { documentPrefix } from "../document-prefix.ts";
import { StreamFront } from "../stream-front.ts";
import type { MemoryDocuments } from "./documents.ts";
import type { MemoryStream } from "./stream.ts";

/** What a writer needs of the log that holds its stream. */
export interface WriterHost {
  readonly store: MemoryDocuments;
  readonly commits: number;
  enlist(stream: MemoryStream): void;
  committed(): Promise<void>;
  putArtifact(stream: MemoryStream, bytes: Buffer, about: { kind: string; mime: string; name?: string }): ArtifactInfo;
}

export class MemoryWriter extends StreamFront<MemoryStream> implements StreamWriter {
  readonly epoch: number;
  readonly documents: StreamDocuments;
  readonly artifacts: ArtifactWriter;
  readonly #log: WriterHost;

  constructor(log: WriterHost, stream: MemoryStream, epoch: number) {
    super(stream);
    this.epoch = epoch;
    this.#log = log;
    stream.takeWriter(epoch);
    const prefix = documentPrefix(stream);
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

  get enqueuedMark(): number {
    return this.#log.commits + 1;
  }
  get committedMark(): number {
    return this.#log.commits;
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
    return this.stream.newestState;
  }

  setState(json: string): void {
    this.#change(() => {
      this.stream.newestState = json;
    });
  }

  openSince(): number | null {
    return this.stream.newestOpenSince;
  }

  setOpenSince(sequence: number | null): void {
    this.#change(() => {
      this.stream.newestOpenSince = sequence;
    });
  }

  committed(): Promise<void> {
    return this.#log.committed();
  }

  #change(work: () => void): void {
    this.stream.admit(this.epoch);
    work();
    this.#log.enlist(this.stream);
  }
}
