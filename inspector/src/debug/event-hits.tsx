/** Places of this session where something was said or done, the newest first; each leads to its event. */
import type { SearchHit } from "../../../src/schema/search.ts";
import { Snippet, useSearch } from "../sessions/search-hits.tsx";

type Props = { session: string; words: string; chosen: number | null; onChoose(sequence: number): void };

export function EventHits({ session, words, chosen, onChoose }: Props) {
  const { hits, fault, busy } = useSearch(words, session);
  return (
    <section className="event-hits" aria-label="Found in this session">
      {fault && <p className="empty">{fault}</p>}
      {hits.map((hit: SearchHit) => (
        <button
          key={hit.sequence}
          type="button"
          className="event-hit"
          aria-pressed={hit.sequence === chosen}
          onClick={() => onChoose(hit.sequence)}
        >
          <span className="event-sequence">{hit.sequence}</span>
          <Snippet hit={hit} />
        </button>
      ))}
      {hits.length === 0 && !fault && !busy && <p className="empty">Nothing found.</p>}
    </section>
  );
}
