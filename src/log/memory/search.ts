/** The search index in memory: looks through everything, which is right for what fits into memory. */
import type {
  RemovedItem,
  SearchEntry,
  SearchHit,
  SearchIndex,
  SearchOptions,
  SearchPage,
  SearchStream,
  StreamKind,
} from "../contract.ts";
import { fold, holds, phrasesOf, wordsIn } from "../search-words.ts";

type Entry = SearchEntry & { no: number; words: string[] };
type Named = SearchStream & { no: number };

export class MemorySearch implements SearchIndex {
  #entries: Entry[] = [];
  readonly #streams = new Map<string, Named>();
  #cursor: string | null = null;
  #last = 0;

  async cursor(): Promise<string | null> {
    return this.#cursor;
  }

  async put(
    {
      streams,
      entries,
      removed,
    }: { streams: readonly SearchStream[]; entries: readonly SearchEntry[]; removed: readonly RemovedItem[] },
    cursor: string,
  ): Promise<void> {
    for (const stream of streams)
      this.#streams.set(keyOf(stream), { ...stream, no: this.#streams.get(keyOf(stream))?.no ?? ++this.#last });
    for (const entry of entries) this.#entries.push({ ...entry, no: ++this.#last, words: wordsIn(fold(entry.text)) });
    for (const item of removed)
      this.#entries = this.#entries.filter((entry) => keyOf(entry) !== keyOf(item) || entry.item_id !== item.item_id);
    this.#cursor = cursor;
  }

  async find(options: SearchOptions): Promise<SearchPage> {
    const phrases = phrasesOf(options.query);
    const before = Number(options.before ?? Number.POSITIVE_INFINITY);
    const limit = options.limit ?? 20;
    const found = this.#entries
      .filter((entry) => entry.no < before && phrases.length > 0 && this.#fits(entry, options))
      .filter(({ words }) => phrases.every((phrase) => holds(words, phrase)))
      .sort((a, b) => b.no - a.no);
    const shown = found.slice(0, limit);
    return { hits: shown.flatMap((entry) => this.#hit(entry)), next: found.length > limit ? String(shown.at(-1)?.no) : null };
  }

  async findStreams(
    text: string,
    options: { limit?: number; before?: string } = {},
  ): Promise<{ ids: string[]; next: string | null }> {
    const before = Number(options.before ?? Number.POSITIVE_INFINITY);
    const wanted = fold(text);
    const found = [...this.#streams.values()]
      .filter(
        ({ no, stream_id, title, directory, agent }) =>
          no < before && [stream_id, title ?? "", directory, agent].some((field) => fold(field).includes(wanted)),
      )
      .sort((a, b) => b.no - a.no);
    const shown = found.slice(0, options.limit ?? 50);
    return { ids: shown.map(({ stream_id }) => stream_id), next: found.length > shown.length ? String(shown.at(-1)?.no) : null };
  }

  async reset(): Promise<void> {
    this.#entries = [];
    this.#streams.clear();
    this.#cursor = null;
  }

  forget(stream: { kind: StreamKind; id: string }): void {
    const key = keyOf({ kind: stream.kind, stream_id: stream.id });
    this.#streams.delete(key);
    this.#entries = this.#entries.filter((entry) => keyOf(entry) !== key);
  }

  #fits(entry: Entry, { agent, directory, sorts, stream_id }: SearchOptions): boolean {
    const stream = this.#streams.get(keyOf(entry));
    if (agent !== undefined && stream?.agent !== agent) return false;
    if (directory !== undefined && stream?.directory !== directory) return false;
    if (stream_id !== undefined && entry.stream_id !== stream_id) return false;
    return sorts?.includes(entry.sort) !== false;
  }

  #hit({ no: _, words: __, ...entry }: Entry): SearchHit[] {
    const stream = this.#streams.get(keyOf(entry));
    return stream ? [{ ...entry, agent: stream.agent, directory: stream.directory, title: stream.title }] : [];
  }
}

const keyOf = ({ kind, stream_id }: { kind: StreamKind; stream_id: string }): string => `${kind}/${stream_id}`;
