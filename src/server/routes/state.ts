/** What a session's events add up to: its state at any event, and its transcript in pages. Both read a bounded number of events. */
import Type from "typebox";
import { withoutBegunSecrets } from "../../redaction/open-items.ts";
import type { Item } from "../../schema/item.ts";
import { ItemList } from "../../schema/session.ts";
import { SessionSnapshot } from "../../schema/snapshot.ts";
import { readItemPage } from "../../session/item-pages.ts";
import { documentSnapshots } from "../../session/snapshots.ts";
import { StateReader } from "../../session/state-reader.ts";
import type { App, ServerContext } from "../server-context.ts";
import type { Caller } from "../token.ts";
import { mustReach } from "./events.ts";
import { Sequence, SessionPath, sessionStream } from "./parameters.ts";

const tag = "state";
const at = Type.Optional(
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: "after this event; default: the newest" }),
);
const ItemQuery = Type.Object({
  after: Type.Optional(Type.Integer({ ...Sequence, description: "Only items that began after this sequence." })),
  before: Type.Optional(Type.Integer({ ...Sequence, description: "Only items that began before this sequence." })),
  limit: Type.Optional(
    Type.Integer({ description: "How many entries a page has at most.", minimum: 1, maximum: 1_000, default: 100 }),
  ),
  order: Type.Optional(Type.Enum(["asc", "desc"], { description: "desc: the newest first, `next` is the next `before`" })),
  at,
});

export function stateRoutes(app: App, { log, redactions }: ServerContext): void {
  const states = new StateReader(documentSnapshots(log.documents));

  /** Whole secrets are replaced in every reply; those that an item in progress ends in the middle of are left out here. */
  const shown = async <T extends { items: Item[] }>(state: T, id: string, caller: Caller | null): Promise<T> => {
    if (!redactions.applyTo(caller)) return state;
    const redactor = await redactions.ofSession(id);
    return { ...state, items: state.items.map((item) => withoutBegunSecrets(item, redactor)) };
  };

  app.get(
    "/v1/sessions/:id/snapshot",
    {
      schema: { params: SessionPath, querystring: Type.Object({ at }) },
      config: {
        tag,
        heavy: "page",
        anywhere: true,
        operation: "getSnapshot",
        summary: "The state of a session after an event: facts, open turn, items in progress, requests, queue.",
        description: "Events after `sequence` go on from it: a client that applies them has the state without reading the past.",
        replies: { 200: SessionSnapshot },
        problems: ["session_not_found", "cursor_too_large", "data_damaged"],
      },
    },
    async ({ params, query, caller }) => {
      const stream = await sessionStream(log, params.id);
      await mustReach(stream, query.at ?? 0, undefined, "at");
      return shown(await states.at(stream, query.at), params.id, caller);
    },
  );

  app.get(
    "/v1/sessions/:id/items",
    {
      schema: { params: SessionPath, querystring: ItemQuery },
      config: {
        tag,
        heavy: "page",
        anywhere: true,
        operation: "listItems",
        summary: "A page of the transcript: items by the sequence of their start.",
        description: "A page can hold fewer than `limit` items, even none, and still have more: go on with `next`.",
        replies: { 200: ItemList },
        problems: ["session_not_found", "cursor_too_large", "data_damaged"],
      },
    },
    async ({ params, query, caller }) => {
      const stream = await sessionStream(log, params.id);
      await mustReach(stream, query.at ?? 0, undefined, "at");
      const { limit = 100, order = "asc", ...range } = query;
      return shown(await readItemPage(stream, states, { ...range, limit, order }), params.id, caller);
    },
  );
}
