// Full-text search over the sessions that the caller may see.
import Type from "typebox";
import type { SearchHit as FoundText, Log } from "../../log/contract.ts";
import { holdsQuery } from "../../log/search-words.ts";
import type { Redactor } from "../../redaction/redactor.ts";
import type { UniversalEvent } from "../../schema/event.ts";
import { type SearchHit, SearchResult, SearchSort } from "../../schema/search.ts";
import { entriesOf, isShortened } from "../../search/entry-text.ts";
import { snippetOf } from "../../search/snippet.ts";
import { listOf } from "../event-encoding.ts";
import type { App, ServerContext } from "../server-context.ts";
import { callerOf } from "./auth.ts";

const KINDS = SearchSort.enum.join("|");

const SearchQuery = Type.Object({
  q: Type.String({
    minLength: 1,
    maxLength: 1_000,
    description: 'words that must all occur, in any order; "in quotes": next to each other; the last word may be a beginning',
  }),
  agent: Type.Optional(Type.String({ description: "Only sessions of this agent." })),
  directory: Type.Optional(Type.String({ description: "Only sessions that work there." })),
  session: Type.Optional(Type.String({ description: "only in this session" })),
  kind: Type.Optional(
    Type.String({ pattern: `^(${KINDS})(,(${KINDS}))*$`, description: "only texts of these kinds, separated by commas" }),
  ),
  limit: Type.Optional(
    Type.Integer({ description: "How many entries a page has at most.", minimum: 1, maximum: 100, default: 20 }),
  ),
  before: Type.Optional(Type.String({ pattern: "^[0-9]{1,15}$", description: "`next` of the page before" })),
});

/** Pages that are looked through for a caller who sees few sessions, before it gets what was found. */
const MAX_PAGES = 20;

export function searchRoutes(app: App, { log, access, redactions, indexer }: ServerContext): void {
  app.get(
    "/v1/search",
    {
      schema: { querystring: SearchQuery },
      config: {
        tag: "search",
        reach: "filtered",
        heavy: "page",
        operation: "search",
        summary: "Search the text of all sessions.",
        description: "The newest first. Texts are found a moment after they were committed; `index` says when more is missing.",
        replies: { 200: SearchResult },
      },
    },
    async (request) => {
      const caller = callerOf(request);
      const { q, agent, directory, session, kind, limit = 20 } = request.query;
      const sorts = listOf(kind);
      const filter = {
        query: q,
        ...(agent === undefined ? {} : { agent }),
        ...(directory === undefined ? {} : { directory }),
        ...(session === undefined ? {} : { stream_id: session }),
        ...(sorts === null ? {} : { sorts }),
      };
      const hidesSecrets = redactions.applyTo(caller);
      const hits: SearchHit[] = [];
      let withheld = false;
      let next = request.query.before ?? null;
      for (let pages = 0; pages < MAX_PAGES && hits.length < limit; pages++) {
        const page = await log.search.find({ ...filter, limit: limit - hits.length, ...(next === null ? {} : { before: next }) });
        for (const hit of page.hits) {
          if (!(await access.sees(caller, hit.stream_id))) continue;
          const text = hidesSecrets ? await withoutSecrets(hit, log, await redactions.ofSession(hit.stream_id)) : hit.text;
          // Found in a secret only: who may not see it could guess it letter by letter.
          if (hidesSecrets && !holdsQuery(text, q)) withheld = true;
          else hits.push(hitOf(hit, snippetOf(text, q)));
        }
        next = page.next;
        if (next === null) break;
      }
      if (withheld && hits.length < limit) next = null;
      return { hits, next, index: indexer?.status() ?? { state: "failed" as const, message: "This daemon keeps no index." } };
    },
  );
}

/** All of the text first: a secret that is cut, by the index or by the snippet, would not be recognised. */
async function withoutSecrets({ text, ...hit }: FoundText, log: Log, redactor: Redactor): Promise<string> {
  const clean = (whole: string): string => redactor.text(whole);
  if (!isShortened(text)) return clean(text);
  const stream = await log.stream("session", hit.stream_id);
  const page = await stream?.read({ after: hit.sequence - 1, limit: 1 });
  const [event] = page?.events ?? [];
  const entries = event === undefined ? [] : entriesOf(JSON.parse(event) as UniversalEvent, clean);
  return entries.find(({ sort, item_id }) => sort === hit.sort && item_id === hit.item_id)?.text ?? "";
}

const hitOf = (hit: FoundText, { snippet, highlights }: ReturnType<typeof snippetOf>): SearchHit => ({
  session_id: hit.stream_id,
  sequence: hit.sequence,
  item_id: hit.item_id,
  kind: hit.sort as SearchHit["kind"],
  time: new Date(hit.at).toISOString(),
  title: hit.title,
  agent: hit.agent,
  directory: hit.directory,
  snippet,
  highlights,
});
