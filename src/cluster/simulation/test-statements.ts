/**
 * What the database of the simulation answers to the statements of the log and the registry: each is known by its words, and one that is not known fails the history, so that a statement that was
 * changed is changed here too. That these answers are those of a real Postgres is shown by the suites that run on both.
 */
import type { SqlRow } from "../../log/packing/row-readers.ts";
import { OBJECT_TABLES } from "../../log/postgres/artifact-mover.ts";
import type { SqlParameter, SqlResult } from "../../log/postgres/connection.ts";
import { logTables } from "../../log/postgres/schema.ts";
import { FLEET_TABLES } from "../fleet-tables.ts";
import type { BrokenRule } from "./test-rules.ts";
import { flag, type NodeTuple, numbersIn, type OwnerTuple, type StreamTuple, type Tables } from "./test-tables.ts";

/** `by`: the process that asks. */
export type Asked = { tables: Tables; now: number; by: string; broken: BrokenRule | null };
type Answer = (asked: Asked, values: readonly SqlParameter[], text: string) => SqlRow[] | number | undefined;

export function answer(asked: Asked, text: string, values: readonly SqlParameter[]): SqlResult {
  for (const [words, run] of STATEMENTS) {
    if (!words.test(text)) continue;
    const result = run(asked, values, text);
    if (typeof result === "number") return { rows: [], count: result };
    return { rows: result ?? [], count: result?.length ?? 0 };
  }
  throw new Error(`the simulation has no answer to: ${text.slice(0, 300)}`);
}

const streamRow = (tables: Tables, stream: StreamTuple): SqlRow => {
  const { no, kind, id, created_at, updated_at, last_sequence, last_native, open_since, epoch, deleted } = stream;
  const state = tables.states.get(no)?.state ?? "";
  return { no, kind, id, created_at, updated_at, last_sequence, last_native, open_since, epoch, state, deleted: flag(deleted) };
};

const named = (tables: Tables, numbers: SqlParameter | undefined): SqlRow[] =>
  numbersIn(String(numbers)).flatMap((no) => {
    const stream = tables.streams.get(Number(no));
    return stream ? [streamRow(tables, stream)] : [];
  });

const isLiving = ({ nodes }: Tables, id: string | null, life: number | null): boolean => {
  const node = nodes.get(id ?? "");
  return node !== undefined && node.incarnation === life && node.state !== "fenced";
};

const has = (json: string, word: string): boolean => (JSON.parse(json) as string[]).includes(word);

function takes({ tables, now, broken }: Asked, id: string, { home, place, agent }: OwnerTuple): boolean {
  const node = tables.nodes.get(id);
  if (node?.kind !== "node" || node.state !== "up" || node.until < now || !has(node.agents, agent)) return false;
  return broken === "O9 place" || home === id || (place !== null && has(node.places, place));
}

const living = (tables: Tables, values: readonly SqlParameter[]): NodeTuple | undefined => {
  const node = tables.nodes.get(String(values[0]));
  return node && isLiving(tables, node.node_id, Number(values[1])) ? node : undefined;
};

/** `{"a","b"}` */
const wordsIn = (literal: SqlParameter | undefined): string[] =>
  JSON.parse(String(literal).replace(/^\{/, "[").replace(/\}$/, "]")) as string[];

const inJson = (value: SqlParameter | undefined): string[] => JSON.parse(String(value)) as string[];

const ownerRow = (tables: Tables, owner: OwnerTuple): SqlRow => ({
  ...owner,
  owned: flag(owner.node_id !== null && isLiving(tables, owner.node_id, owner.incarnation)),
});

/** Rows of a range, cut where they grow too large; at least one. */
function eventRows({ tables }: Asked, [no, low, high, most, bytes, types]: readonly SqlParameter[], text: string): SqlRow[] {
  const words = types === undefined ? null : wordsIn(types);
  const rows = (tables.events.get(Number(no)) ?? []).filter(
    ({ first, last }) => Number(last) > Number(low) && Number(last) < Number(high) && Number(first) < Number(most),
  );
  if (/last DESC/.test(text)) rows.reverse();
  let size = 0;
  const page: SqlRow[] = [];
  for (const row of rows) {
    const hit = words === null || words.some((word) => String(row.types).includes(word));
    if (hit) size += (row.body as Buffer).length + 320 * (Number(row.last) - Number(row.first) + 1);
    if (page.length > 0 && size > Number(bytes)) break;
    page.push(hit ? row : { ...row, body: null });
  }
  return page;
}

const claimRow = ({ session_id, epoch, moved_from, moved_reason }: OwnerTuple): SqlRow => ({
  ...{ session_id, epoch, moved_from, moved_reason },
});

function claim(asked: Asked, values: readonly SqlParameter[]): SqlRow[] {
  const { tables, by, broken } = asked;
  const [id, life, limit] = [String(values[0]), Number(values[1]), Number(values[2])];
  const node = living(tables, values);
  if (!node) return [];
  const free = [...tables.owners.values()]
    .filter((owner) => !isLiving(tables, owner.node_id, owner.incarnation) && takes(asked, id, owner))
    .filter((owner) => owner.wanted === null || owner.wanted === id || !takes(asked, owner.wanted, owner))
    .sort((a, b) => (a.session_id < b.session_id ? -1 : 1))
    .slice(0, limit);
  return free.map((owner) => {
    const from = owner.node_id ?? owner.released_by;
    const reason = from === id ? "restart" : owner.node_id === null ? "move" : "takeover";
    const stream = tables.find("default", "session", owner.session_id);
    if (stream && broken !== "O6 claim") Object.assign(stream, { owner: node.writer, epoch: stream.epoch + 1 });
    Object.assign(owner, { node_id: id, incarnation: life, epoch: owner.epoch + 1, wanted: null, released_by: null });
    Object.assign(owner, { moved_from: from, moved_reason: reason });
    tables.rightful.set(owner.session_id, by);
    return claimRow(owner);
  });
}

function join({ tables, now, broken }: Asked, values: readonly SqlParameter[]): SqlRow[] {
  const [node_id, kind, term, url, version, labels, places, agents, capacity, writer, birth] = values;
  const earlier = tables.nodes.get(String(node_id));
  if (earlier && earlier.birth > Number(birth)) return [];
  const before = earlier?.incarnation ?? 0;
  const incarnation = broken === "O1 join" && before > 0 ? before : ++tables.incarnations;
  tables.nodes.set(String(node_id), {
    ...{ node_id: String(node_id), incarnation, kind: String(kind), writer: String(writer), url: String(url) },
    ...{ version: String(version), labels: String(labels), places: String(places), agents: String(agents) },
    ...{ capacity: Number(capacity), load: 0, until: now + Number(term), since: now, state: "up", left_at: null },
    birth: Number(birth),
  });
  return [{ incarnation }];
}

function renew({ tables, now, broken }: Asked, values: readonly SqlParameter[]): SqlRow[] {
  const mine = living(tables, values);
  const same = tables.nodes.get(String(values[0]))?.incarnation === values[1];
  if (!mine) return broken === "O2 lease" && same ? [{ state: "up" }] : [];
  if (mine.until < now) mine.since = now;
  Object.assign(mine, { until: now + Number(values[2]), load: Number(values[3]) });
  return [{ state: mine.state }];
}

function fenceDead({ tables, now, broken }: Asked, values: readonly SqlParameter[]): SqlRow[] {
  const mine = living(tables, values);
  const whole = mine && (broken === "O5 term" || now - mine.since >= Number(values[2]));
  if (!mine || mine.until < now || !whole) return [];
  const dead = [...tables.nodes.values()].filter(({ state, until }) => state !== "fenced" && until < now);
  for (const node of dead) node.state = "fenced";
  return dead.map(({ node_id }) => ({ node_id }));
}

function forgetGone({ tables, now }: Asked, [left, dead]: readonly SqlParameter[]): SqlRow[] {
  const owners = [...tables.owners.values()];
  const gone = [...tables.nodes.values()].filter(({ node_id, kind, state, until, left_at }) => {
    const since = left_at === null ? until + Number(kind === "gateway" ? left : dead) : left_at + Number(left);
    const waits = owners.some((owner) => owner.node_id === node_id || (owner.home === node_id && owner.place === null));
    return state === "fenced" && since < now && !waits;
  });
  for (const { node_id } of gone) tables.nodes.delete(node_id);
  return gone.map(({ node_id }) => ({ node_id }));
}

function takeWriter({ tables }: Asked, values: readonly SqlParameter[]): SqlRow[] {
  const [tenant, kind, id, node, epoch] = values;
  const stream = tables.find(String(tenant), String(kind), String(id));
  if (!stream || (node !== null && stream.owner !== null && stream.owner !== node)) return [];
  if (epoch !== null && stream.epoch > Number(epoch)) return [];
  stream.epoch = epoch === null ? stream.epoch + 1 : Number(epoch);
  return [streamRow(tables, stream)];
}

const STATEMENTS: readonly [RegExp, Answer][] = [
  [/^SELECT dragoman\.commit_/, ({ tables, by }, values) => [{ xid: tables.commit(values, by) }]],
  [
    /^INSERT INTO dragoman\.committers/,
    ({ tables }) => {
      const no = tables.committers.size + 1;
      tables.committers.set(no, { commits: 0, xid: "" });
      return [{ no }];
    },
  ],
  [
    /^SELECT commits, xid/,
    ({ tables }, values) => {
      const found = tables.committers.get(Number(values[0]));
      return found ? [found] : [];
    },
  ],
  [/^DELETE FROM dragoman\.committers/, () => 0],
  // ── opening ──
  [/to_regclass/, () => [{ there: 1 }]],
  [
    /FROM dragoman\.migrations GROUP BY room/,
    () => [logTables, OBJECT_TABLES, FLEET_TABLES].map(({ room, steps }) => ({ room, version: steps.length })),
  ],
  [
    /^INSERT INTO dragoman\.logs/,
    ({ tables }, values) => {
      tables.logs ??= { log_id: String(values[1]) };
      return 1;
    },
  ],
  [/^SELECT log_id, owner, holder/, ({ tables }) => [{ log_id: tables.logs?.log_id ?? "", owner: null, holder: null, alive: 0 }]],
  [/^SELECT greatest\(pg_current_xact_id/, ({ tables }) => [{ xid: String(++tables.xid) }]],
  [
    /FROM dragoman\.epochs/,
    ({ tables }) => tables.epochs.map(({ epoch, xid }) => ({ epoch, xid: String(xid), first_ordinal: 0 })),
  ],
  [
    /^INSERT INTO dragoman\.epochs/,
    ({ tables }, values) => void tables.epochs.push({ epoch: String(values[2]), xid: Number(values[3]) }),
  ],
  [/^UPDATE dragoman\.logs/, () => 1],
  [/^SELECT no FROM dragoman\.streams WHERE tenant = \$1 AND deleted/, () => []],
  // ── streams ──
  [/^WITH taken AS/, takeWriter],
  [
    /^SELECT nextval\(.dragoman\.stream_numbers/,
    ({ tables }, values) =>
      tables.find(String(values[0]), String(values[1]), String(values[2])) ? [] : [{ no: ++tables.numbers }],
  ],
  [/^SELECT no, epoch, last_sequence, deleted FROM/, ({ tables }, values) => named(tables, values[0])],
  [/^SELECT no, last_sequence, last_native, updated_at FROM/, ({ tables }, values) => named(tables, values[0])],
  [
    /^SELECT s\.no.* AND s\.id = \$3$/s,
    ({ tables }, values) => {
      const stream = tables.find(String(values[0]), String(values[1]), String(values[2]));
      return stream ? [streamRow(tables, stream)] : [];
    },
  ],
  [/^SELECT s\.kind, s\.id, s\.no FROM/, () => []],
  [
    /may_create/,
    ({ tables }, [owner, numbers, kinds, ids]) =>
      numbersIn(String(numbers)).flatMap((no, index) => {
        const [kind, id] = [wordsIn(kinds)[index] ?? "", wordsIn(ids)[index] ?? ""];
        return tables.mayCreate(owner === null ? null : String(owner), kind, id) ? [] : [{ no }];
      }),
  ],
  [
    /^UPDATE dragoman\.streams SET deleted = true/,
    ({ tables }, values) => {
      const stream = tables.find(String(values[0]), String(values[1]), String(values[2]));
      if (!stream) return [];
      Object.assign(stream, { deleted: true, id: null, epoch: stream.epoch + 1, open_since: null });
      return [{ no: stream.no }];
    },
  ],
  // ── events and native messages ──
  [/^SELECT stream, first, last, types/, eventRows],
  [
    /^SELECT xid::text AS xid FROM dragoman\.event_chunks/,
    ({ tables }, values) => (tables.events.get(Number(values[0])) ?? []).filter(({ last }) => last === values[1]),
  ],
  [/^SELECT first, last, head/, ({ tables }, values) => tables.natives.get(Number(values[0])) ?? []],
  [/FROM dragoman\.coverage/, () => []],
  // ── documents ──
  [
    /^SELECT kind, id, body FROM dragoman\.documents WHERE stream/,
    ({ tables }, values) => [...tables.documents.values()].filter(({ stream }) => stream === values[0]),
  ],
  [
    /^SELECT body FROM dragoman\.documents/,
    ({ tables }, values) => {
      const found = tables.documents.get(`${values[1]}\0${values[2]}`);
      return found ? [{ body: found.body }] : [];
    },
  ],
  [
    /^SELECT id, body FROM dragoman\.documents/,
    ({ tables }, [, kind, after, prefix, limit]) =>
      [...tables.documents.values()]
        .filter((each) => each.kind === kind && each.id > String(after) && each.id.startsWith(String(prefix)))
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .slice(0, Number(limit)),
  ],
  [/^DELETE FROM dragoman\.documents WHERE tenant = \$1 AND expires_at/, () => 0],
  // What a deleted stream leaves behind is nobody's business here.
  [
    /^DELETE FROM dragoman\.(stream_states|documents|search_|sealed_|event_chunks|native_chunks|coverage|artifact|streams)/,
    () => 0,
  ],
  // ── registry ──
  [
    /^SELECT s\.id, t\.agent, t\.directory/,
    ({ tables }) =>
      [...tables.streams.values()]
        .filter(({ kind, id, deleted }) => kind === "session" && !deleted && !tables.owners.has(id ?? ""))
        .map(({ id }) => ({ id, agent: "mock", directory: "" })),
  ],
  [/^SELECT nextval\('dragoman\.incarnations'\)/, ({ tables }) => [{ birth: ++tables.incarnations }]],
  [
    /^SELECT writer FROM dragoman\.nodes/,
    ({ tables }, values) => {
      const node = tables.nodes.get(String(values[0]));
      return node ? [{ writer: node.writer }] : [];
    },
  ],
  [/^INSERT INTO dragoman\.nodes/, join],
  [
    /^UPDATE dragoman\.owners SET incarnation/,
    ({ tables }, [id, before, incarnation]) => {
      for (const owner of tables.owners.values())
        if (owner.node_id === id && owner.incarnation === before) owner.incarnation = Number(incarnation);
      return 0;
    },
  ],
  [/^UPDATE dragoman\.streams SET owner = \$2, epoch = epoch \+ 1 WHERE owner = \$1 AND kind <> 'session'/, () => 0],
  [/^UPDATE dragoman\.nodes SET lease_until/, renew],
  [/^UPDATE dragoman\.nodes SET state = 'fenced'\s+WHERE state/, fenceDead],
  [
    /^UPDATE dragoman\.nodes SET state = 'fenced', left_at/,
    ({ tables, now }, values) => {
      const mine = living(tables, values);
      if (mine) Object.assign(mine, { state: "fenced", left_at: now });
      return mine ? 1 : 0;
    },
  ],
  [/^WITH free AS/, claim],
  [
    /^INSERT INTO dragoman\.owners/,
    ({ tables, by }, values) => {
      const [node_id, life, session_id, agent, place] = values;
      if (!living(tables, values) || tables.owners.has(String(session_id))) return [];
      const owner = { node_id: String(node_id), incarnation: Number(life), epoch: 1, wanted: null, released_by: null };
      const moved = { moved_from: null, moved_reason: null };
      const home = { agent: String(agent), home: String(node_id), place: place === null ? null : String(place) };
      tables.owners.set(String(session_id), { session_id: String(session_id), ...owner, ...home, ...moved });
      tables.rightful.set(String(session_id), by);
      return [{ epoch: 1 }];
    },
  ],
  [
    /^UPDATE dragoman\.owners SET node_id = NULL/,
    ({ tables }, [node_id, life, session_id, epoch, to]) => {
      const owner = tables.owners.get(String(session_id));
      if (owner?.node_id !== node_id || owner?.incarnation !== life || owner?.epoch !== epoch) return 0;
      const wanted = to === null ? null : String(to);
      Object.assign(owner ?? {}, { node_id: null, incarnation: null, wanted, released_by: String(node_id) });
      return 1;
    },
  ],
  [
    /^UPDATE dragoman\.owners SET epoch = epoch \+ 1/,
    ({ tables }, [node_id, life, session_id, epoch]) => {
      const owner = tables.owners.get(String(session_id));
      if (owner?.node_id !== node_id || owner?.incarnation !== life || owner?.epoch !== epoch) return [];
      Object.assign(owner ?? {}, { epoch: Number(epoch) + 1, moved_from: null, moved_reason: null });
      return [{ epoch: Number(epoch) + 1 }];
    },
  ],
  [/^DELETE FROM dragoman\.nodes/, forgetGone],
  [
    /^DELETE FROM dragoman\.owners/,
    ({ tables }, values) => {
      tables.rightful.delete(String(values[0]));
      return Number(tables.owners.delete(String(values[0])));
    },
  ],
  [
    /^SELECT session_id, epoch, moved_from, moved_reason FROM dragoman\.owners/,
    ({ tables }, [id, life]) =>
      [...tables.owners.values()].filter((owner) => owner.node_id === id && owner.incarnation === life).map(claimRow),
  ],
  [
    /^SELECT o\.session_id FROM dragoman\.owners o JOIN/,
    ({ tables }, values) =>
      [...tables.owners.values()]
        .filter((owner) => inJson(values[0]).includes(owner.node_id ?? "") && isLiving(tables, owner.node_id, owner.incarnation))
        .map(({ session_id }) => ({ session_id })),
  ],
  [
    /^SELECT o\.\*.*jsonb_array_elements_text/s,
    ({ tables }, values) =>
      inJson(values[0]).flatMap((id) => {
        const owner = tables.owners.get(id);
        return owner ? [ownerRow(tables, owner)] : [];
      }),
  ],
  [/^SELECT n\.node_id FROM dragoman\.streams/, () => []],
  [
    /^SELECT n\.\*/,
    ({ tables, now }) =>
      [...tables.nodes.values()]
        .sort((a, b) => (a.node_id < b.node_id ? -1 : 1))
        .map(({ until, since: _, left_at, ...node }) => ({
          ...node,
          lease_ms: until - now,
          has_left: flag(left_at !== null),
          sessions: [...tables.owners.values()].filter(
            (owner) => owner.node_id === node.node_id && owner.incarnation === node.incarnation,
          ).length,
        })),
  ],
  [
    /^UPDATE dragoman\.nodes SET state = \$2/,
    ({ tables }, [id, state]) => {
      const node = tables.nodes.get(String(id));
      if (!node || node.state === "fenced") return 0;
      node.state = String(state);
      return 1;
    },
  ],
];
