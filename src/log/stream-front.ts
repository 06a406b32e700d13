/**
 * What stands in front of a stream and answers for it: the reading half of every engine's writer. What is written is the engine's own business.
 */
import type {
  Batch,
  CoverageRow,
  NativePage,
  NativeRow,
  ReadOptions,
  ReadPage,
  Stream,
  StreamKind,
  StreamRow,
  SubscribeOptions,
  Subscription,
} from "./contract.ts";

/** With what is enqueued, which only a writer sees. */
type WrittenStream = Stream & { readonly last: number; readonly lastNative: number };

export abstract class StreamFront<S extends WrittenStream> {
  protected readonly stream: S;

  constructor(stream: S) {
    this.stream = stream;
  }

  get kind(): StreamKind {
    return this.stream.kind;
  }
  get id(): string {
    return this.stream.id;
  }
  get created_at(): number {
    return this.stream.created_at;
  }
  get last(): number {
    return this.stream.last;
  }
  get lastCommitted(): number {
    return this.stream.lastCommitted;
  }
  get updatedAt(): number {
    return this.stream.updatedAt;
  }
  get lastNative(): number {
    return this.stream.lastNative;
  }

  row(): Promise<StreamRow> {
    return this.stream.row();
  }
  read(options?: ReadOptions): Promise<ReadPage> {
    return this.stream.read(options);
  }
  readRaw(nativeSeqs: Iterable<number>): Promise<Map<number, NativeRow>> {
    return this.stream.readRaw(nativeSeqs);
  }
  readNative(options?: { after?: number; limit?: number; maxBytes?: number }): Promise<NativePage> {
    return this.stream.readNative(options);
  }
  coverage(): Promise<CoverageRow[]> {
    return this.stream.coverage();
  }
  assertCursor(cursor: { sequence: number; epoch: string }): Promise<void> {
    return this.stream.assertCursor(cursor);
  }
  subscribe(options: SubscribeOptions<Batch> & { after?: number }): Subscription {
    return this.stream.subscribe(options);
  }
}
