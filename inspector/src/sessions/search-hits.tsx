/** What was said and done, in all sessions, that holds the words of the search. */
import { useEffect, useState } from "react";
import type { SearchHit, SearchResult } from "../../../src/schema/search.ts";
import { visibleLine } from "../../../src/schema/visible-text.ts";
import { daemon, problemText } from "../state/daemon.ts";
import { hrefOf } from "../state/route.ts";
import { ago } from "../ui/format.ts";
import { leaveSidebar } from "./sidebar-toggle.tsx";

const SHORTEST = 2;
const WAIT_MS = 200;
const MOST = 20;

export type Search = { hits: SearchHit[]; index: SearchResult["index"]["state"]; fault: string | null; busy: boolean };
const NOTHING: Search = { hits: [], index: "ready", fault: null, busy: false };

/** Asks when the typing pauses; what was found before stays while the words grow. */
export function useSearch(words: string, session?: string): Search {
  const [found, setFound] = useState({ ...NOTHING, text: "" });
  const text = words.trim();
  // No state is set before the answer: one that changes after each key makes React take fast typing for an endless loop.
  useEffect(() => {
    if (text.length < SHORTEST) return;
    const gone = new AbortController();
    const timer = setTimeout(() => {
      daemon.search(text, { limit: MOST, ...(session === undefined ? {} : { session }) }, gone.signal).then(
        ({ hits, index }) => setFound({ hits, index: index.state, fault: null, busy: false, text }),
        (error: unknown) => !gone.signal.aborted && setFound({ ...NOTHING, fault: problemText(error), text }),
      );
    }, WAIT_MS);
    return () => {
      clearTimeout(timer);
      gone.abort();
    };
  }, [text, session]);
  if (text.length < SHORTEST) return NOTHING;
  if (found.text === text) return found;
  const related = found.text !== "" && (text.startsWith(found.text) || found.text.startsWith(text));
  return { ...(related ? found : NOTHING), busy: true };
}

export function SearchHits({ words, now }: { words: string; now: number }) {
  const { hits, index, fault } = useSearch(words);
  if (words.trim().length < SHORTEST) return null;
  return (
    <section className="search-hits" aria-label="Found in conversations">
      <h2 className="group-head">In conversations</h2>
      {fault && <p className="empty">{fault}</p>}
      {index === "building" && <p className="empty">The search index is still being built: some results may be missing.</p>}
      {hits.map((hit) => (
        <a
          key={`${hit.session_id} ${hit.sequence}`}
          className="search-hit"
          href={hrefOf({ page: "session", id: hit.session_id, at: hit.sequence })}
          onClick={leaveSidebar}
        >
          <span className="session-title">
            <bdi>{visibleLine(hit.title ?? hit.session_id)}</bdi>
          </span>
          <span className="session-time">{ago(hit.time, now)}</span>
          <Snippet hit={hit} />
        </a>
      ))}
      {hits.length === 0 && !fault && <p className="empty">Nothing found.</p>}
    </section>
  );
}

export function Snippet({ hit: { snippet, highlights } }: { hit: SearchHit }) {
  const parts: { text: string; marked: boolean; at: number }[] = [];
  let at = 0;
  for (const { start, end } of highlights) {
    parts.push(
      { text: snippet.slice(at, start), marked: false, at },
      { text: snippet.slice(start, end), marked: true, at: start },
    );
    at = end;
  }
  parts.push({ text: snippet.slice(at), marked: false, at });
  return (
    <span className="snippet">
      <bdi>
        {parts.map(({ text, marked, at: start }) =>
          marked ? <mark key={start}>{visibleLine(text)}</mark> : <span key={`${start} plain`}>{visibleLine(text)}</span>,
        )}
      </bdi>
    </span>
  );
}
