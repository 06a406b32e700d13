/** Everything a task wrote: kept by range, cut into chunks for the events, and handed over as a whole at the end when the events do not hold it. */
import type { ArtifactRef } from "../../schema/content.ts";
import type { TaskEvent } from "../../schema/task.ts";
import type { TaskLimits } from "./limits.ts";
import { type OutputRange, OutputStore } from "./output-store.ts";
import { TaskError } from "./task-error.ts";
import type { OutputStream } from "./task-process.ts";
import { type TextChunk, Utf8Chunks } from "./utf8-chunks.ts";

/** Stores the whole of a stream elsewhere; null when it does not. */
export type StoreOutput = (output: {
  task_id: string;
  stream: OutputStream;
  path: string;
  bytes: number;
}) => Promise<ArtifactRef | null>;

export type OutputView = { stream: OutputStream; total: number; kept: { from: number; to: number }[] };

/** `told`: bytes that were cut into chunks; what is behind them is the beginning of a character. `shown`: those of them that are stored. */
type Stream = { name: OutputStream; store: OutputStore; chunks: Utf8Chunks; told: number; shown: number };

export type TaskOutputOptions = {
  task_id: string;
  streams: readonly OutputStream[];
  limits: TaskLimits;
  /** File for one stream; null: its output is kept in memory alone. */
  file(stream: OutputStream): string | null;
  /** A promise while the event is not stored. */
  tell(event: TaskEvent): Promise<void> | null;
  /** More of the output is stored. */
  onShown(): void;
};

export class TaskOutput {
  readonly #options: TaskOutputOptions;
  readonly #streams: readonly Stream[];
  /** Output reported in events so far. */
  #eventBytes = 0;

  constructor(options: TaskOutputOptions) {
    this.#options = options;
    this.#streams = options.streams.map((name) => ({
      name,
      store: new OutputStore(options.limits, options.file(name)),
      chunks: new Utf8Chunks(),
      told: 0,
      shown: 0,
    }));
  }

  get views(): OutputView[] {
    return this.#streams.map(({ name, store }) => ({ stream: name, total: store.total, kept: store.kept() }));
  }

  /** A promise while something of these bytes is not stored. */
  received(name: OutputStream, bytes: Buffer): Promise<unknown> | null {
    const stream = this.#stream(name);
    const waits = [stream.store.append(bytes), ...stream.chunks.push(bytes).map((chunk) => this.#tell(stream, chunk))];
    const open = waits.filter((wait) => wait !== null);
    return open.length === 0 ? null : Promise.all(open);
  }

  /** Nothing more will come: reports characters that were never finished. */
  flush(): void {
    for (const stream of this.#streams) for (const chunk of stream.chunks.end()) void this.#tell(stream, chunk);
  }

  /** Bytes of the stream that were reported, or would have been within the limit: always whole characters. */
  told(name: OutputStream): number {
    return this.#stream(name).told;
  }

  /** Bytes of the stream that were reported and are stored. */
  shown(name: OutputStream): number {
    return this.#stream(name).shown;
  }

  read(name: OutputStream, offset: number, limit: number): Promise<OutputRange> {
    return this.#stream(name).store.read(offset, limit);
  }

  /** Ends the files. What is longer than the events say is handed over as a whole. */
  async end(storeOutput: StoreOutput | undefined): Promise<ArtifactRef[]> {
    const { task_id, limits } = this.#options;
    const refs: ArtifactRef[] = [];
    for (const { name, store } of this.#streams) {
      await store.end();
      if (this.#eventBytes < limits.event_bytes || store.path === null) continue;
      const bytes = Math.min(store.total, limits.file_bytes);
      const ref = await storeOutput?.({ task_id, stream: name, path: store.path, bytes }).catch(() => null);
      if (ref) refs.push(ref);
    }
    return refs;
  }

  /** Removes what is kept. */
  async remove(): Promise<void> {
    await Promise.all(this.#streams.map(({ store }) => store.remove()));
  }

  #tell(stream: Stream, { text, bytes }: TextChunk): Promise<void> | null {
    const { task_id, limits, tell } = this.#options;
    const offset = stream.told;
    stream.told += bytes;
    const show = (): void => {
      stream.shown = offset + bytes;
      this.#options.onShown();
    };
    if (this.#eventBytes >= limits.event_bytes) {
      show();
      return null;
    }
    this.#eventBytes += bytes;
    const stored = tell({ type: "task.output", data: { task_id, stream: stream.name, chunk: text, offset, bytes } });
    if (stored === null) show();
    return stored === null ? null : stored.then(show);
  }

  #stream(name: OutputStream): Stream {
    const found = this.#streams.find((each) => each.name === name);
    const names = this.#options.streams.join(" and ");
    if (found === undefined) throw new TaskError("invalid_request", `The task has no stream ${name}: it has ${names}.`);
    return found;
  }
}
