/**
 * The tables of the database in the simulation, and what one commit does with them: fence, events and what goes with them, or nothing, as the function in the schema does it. It also watches what no
 * node can see: who was the rightful writer at that moment, and every committed event as text.
 */
import { EventBatch } from "../../log/packing/batch.ts";
import { Damage } from "../../log/packing/damage.ts";
import { checkedRow, merge } from "../../log/packing/event-chunk.ts";
import type { SqlRow, SqlValue } from "../../log/packing/row-readers.ts";
import { CREATION_FENCED, NOT_NEXT, PostgresError, type SqlParameter, STREAM_FENCED } from "../../log/postgres/connection.ts";
import { UNIQUE_VIOLATION } from "../../log/postgres/errors.ts";
import type { StreamKind } from "../../schema/stream-kind.ts";
import type { BrokenRule } from "./test-rules.ts";
import { Violation } from "./test-world.ts";

export type StreamTuple = {
  no: number;
  tenant: string;
  kind: StreamKind;
  id: string | null;
  created_at: number;
  epoch: number;
  last_sequence: number;
  last_native: number;
  open_since: number | null;
  updated_at: number;
  deleted: boolean;
  owner: string | null;
};
export type StateTuple = { state: string; tags: string[] };
export type DocumentTuple = { kind: string; id: string; stream: number | null; body: string; expires_at: number | null };
export type NodeTuple = {
  node_id: string;
  incarnation: number;
  kind: string;
  writer: string;
  url: string;
  version: string;
  labels: string;
  places: string;
  agents: string;
  capacity: number;
  load: number;
  until: number;
  since: number;
  state: string;
  left_at: number | null;
  birth: number;
};
export type OwnerTuple = {
  session_id: string;
  agent: string;
  home: string;
  place: string | null;
  node_id: string | null;
  incarnation: number | null;
  epoch: number;
  wanted: string | null;
  released_by: string | null;
  moved_from: string | null;
  moved_reason: string | null;
};

/** A committed event, and who wrote it under which epoch. */
export type Line = { text: string; epoch: number; by: string };

export class Tables {
  logs: { log_id: string } | null = null;
  epochs: { epoch: string; xid: number }[] = [];
  streams = new Map<number, StreamTuple>();
  states = new Map<number, StateTuple>();
  events = new Map<number, SqlRow[]>();
  natives = new Map<number, SqlRow[]>();
  documents = new Map<string, DocumentTuple>();
  nodes = new Map<string, NodeTuple>();
  owners = new Map<string, OwnerTuple>();
  committers = new Map<number, { commits: number; xid: string }>();
  xid = 100;
  numbers = 0;
  incarnations = 0;
  /** By session. */
  readonly lines = new Map<string, Line[]>();
  /** Which process may write a session, by the claims and creations that were committed. */
  readonly rightful = new Map<string, string>();
  /** Told of each event of a session in order of commit. */
  onLine: (session: string, line: Line, sequence: number) => void = () => undefined;
  readonly #broken: BrokenRule | null;
  readonly #damage = new Damage(() => undefined);

  constructor(broken: BrokenRule | null) {
    this.#broken = broken;
  }

  find(tenant: string, kind: string, id: string): StreamTuple | undefined {
    for (const stream of this.streams.values())
      if (stream.id === id && stream.kind === kind && stream.tenant === tenant) return stream;
    return undefined;
  }

  mayCreate(owner: string | null, kind: string, id: string): boolean {
    if (owner === null || kind !== "session") return true;
    const { node_id, incarnation } = this.owners.get(id) ?? {};
    const node = this.nodes.get(node_id ?? "");
    return node?.incarnation === incarnation && node?.writer === owner;
  }

  /** The parameters are those of `COMMIT`. The number of the transaction. */
  commit(values: readonly SqlParameter[], by: string): string {
    const [tenant, , committer, number, bytes] = values as [string, string | null, number, number, Buffer];
    const columns = values.slice(5, 27).map((value) => numbersIn(String(value)));
    const streams = rowsOf(columns.slice(0, 7), ["no", "epoch", "expected", "last", "native", "open", "at"]);
    const more = (values[27] === null ? {} : JSON.parse(String(values[27]))) as More;
    this.#mustBeNext(committer, number, by);
    const created = more.created ?? [];
    for (const { kind, id } of created)
      if (this.find(tenant, kind, id)) throw new PostgresError("refused", UNIQUE_VIOLATION, `there is a ${kind} ${id}`, null);
    if (created.some(({ owner, kind, id }) => !this.mayCreate(owner, kind, id)))
      throw new PostgresError("fenced", CREATION_FENCED, "another owns a stream that is new", null);
    for (const stream of streams) this.#mustBeWriter(stream, created, by);
    for (const { no, kind, id, at, epoch, owner } of created)
      this.streams.set(no, {
        ...{ no, tenant, kind, id, created_at: at, epoch, owner, updated_at: at },
        ...{ last_sequence: 0, last_native: 0, open_since: null, deleted: false },
      });
    for (const { no, last, native, open, at } of streams) {
      const tuple = this.#stream(Number(no));
      Object.assign(tuple, { last_sequence: last, last_native: native, open_since: open, updated_at: at });
    }
    this.xid++;
    this.committers.set(committer, { commits: number, xid: String(this.xid) });
    this.#events(columns.slice(7, 15), bytes, by);
    this.#nativeMessages(columns.slice(15, 22), bytes);
    const text = (at: number, size: number): string => bytes.toString("utf8", at, at + size);
    for (const { no, at, size, tags } of more.states ?? []) this.states.set(no, { state: text(at, size), tags });
    for (const { kind, id } of more.removed ?? []) this.documents.delete(`${kind}\0${id}`);
    for (const { kind, id, stream, at, size, expires } of more.documents ?? []) {
      const before = this.documents.get(`${kind}\0${id}`);
      const owner = stream ?? before?.stream ?? null;
      this.documents.set(`${kind}\0${id}`, { kind, id, stream: owner, body: text(at, size), expires_at: expires });
    }
    return String(this.xid);
  }

  #mustBeNext(committer: number, number: number, by: string): void {
    if (this.#broken === "O3 sequence") return;
    const { commits = -1 } = this.committers.get(committer) ?? {};
    if (this.#broken !== "O4 number" && commits !== number - 1)
      throw new PostgresError("fenced", NOT_NEXT, `commit ${number} is not the next one`, null);
    if (commits >= number) throw new Violation(`commit ${number} of ${by} is done behind its commit ${commits}`);
  }

  /** The statement fences by what the writer says; whether it was right is asked by other means. */
  #mustBeWriter(part: Record<string, number | null>, created: readonly Created[], by: string): void {
    const no = Number(part.no);
    const stream = this.streams.get(no) ?? created.find((each) => each.no === no);
    const last = this.streams.get(no)?.last_sequence ?? 0;
    const isWriter =
      stream !== undefined &&
      (this.#broken === "O3 epoch" || stream.epoch === part.epoch) &&
      (this.#broken === "O3 sequence" || last === part.expected) &&
      !this.streams.get(no)?.deleted;
    if (!isWriter) throw new PostgresError("fenced", STREAM_FENCED, `stream ${no} is not this writer's any more`, null);
    const id = stream.id ?? "";
    if (stream.kind === "session" && this.rightful.get(id) !== by)
      throw new Violation(`${by} wrote ${id} at ${Number(part.expected) + 1}, which is ${this.rightful.get(id)}'s`);
    if (last !== part.expected) throw new Violation(`${id}:${Number(part.expected) + 1} is written twice`);
  }

  #events(columns: (number | null)[][], bytes: Buffer, by: string): void {
    const names = ["stream", "first", "last", "from", "types", "natives", "body", "checksum"];
    rowsOf(columns, names).forEach((piece, index) => {
      const [no, first, last, from, types, natives, body] = names.map((name) => Number(piece[name])) as Numbers;
      const cut = (at: number, size: number): Buffer => Buffer.from(bytes.subarray(at, at + size));
      const row = {
        ...{ stream: no, first, last, checksum: Number(piece.checksum), xid: String(this.xid), ordinal: index + 1 },
        ...{ types: cut(from, types).toString(), natives: cut(from + types, natives).toString() },
        body: cut(from + types + natives, body),
      };
      listed(this.events, no).push(row);
      const stream = this.#stream(no);
      if (stream.kind === "session") this.#tell(stream, row, by);
    });
  }

  #tell({ no, kind, id, epoch }: StreamTuple, row: SqlRow, by: string): void {
    const name = { no, kind, id: id ?? "" };
    const checked = checkedRow(row, name, this.#damage);
    const lines = listed(this.lines, name.id);
    if (checked.first !== lines.length + 1)
      throw new Violation(`${name.id} has ${lines.length} events, and ${checked.first} came`);
    for (const text of new EventBatch(name, checked.first, checked.last, merge([checked])).events) {
      const line = { text, epoch, by };
      if ((lines.at(-1)?.epoch ?? 0) > epoch) throw new Violation(`epochs go back in ${name.id} at ${lines.length + 1}`);
      this.onLine(name.id, line, lines.push(line));
    }
  }

  #nativeMessages(columns: (number | null)[][], bytes: Buffer): void {
    const names = ["stream", "first", "last", "from", "head", "body", "checksum"];
    for (const piece of rowsOf(columns, names)) {
      const [stream, first, last, from, head, body, checksum] = names.map((name) => Number(piece[name])) as Numbers;
      const text = bytes.toString("utf8", from, from + head);
      const copy = Buffer.from(bytes.subarray(from + head, from + head + body));
      listed(this.natives, stream).push({ stream, first, last, checksum, head: text, body: copy });
    }
  }

  #stream(no: number): StreamTuple {
    const found = this.streams.get(no);
    if (!found) throw new Error(`there is no stream ${no}`);
    return found;
  }
}

type Numbers = [number, number, number, number, number, number, number];
type Created = { no: number; kind: StreamKind; id: string; at: number; epoch: number; owner: string | null };
type More = {
  created?: Created[];
  states?: { no: number; at: number; size: number; tags: string[] }[];
  removed?: { kind: string; id: string }[];
  documents?: { kind: string; id: string; stream: number | null; at: number; size: number; expires: number | null }[];
};

/** `{1,2,NULL}` */
export const numbersIn = (literal: string): (number | null)[] =>
  literal === "{}"
    ? []
    : literal
        .slice(1, -1)
        .split(",")
        .map((each) => (each === "NULL" ? null : Number(each)));

function rowsOf(columns: readonly (number | null)[][], names: readonly string[]): Record<string, number | null>[] {
  return (columns[0] ?? []).map((_, row) =>
    Object.fromEntries(names.map((name, column) => [name, columns[column]?.[row] ?? null])),
  );
}

export function listed<K, V>(map: Map<K, V[]>, key: K): V[] {
  const found = map.get(key) ?? [];
  if (found.length === 0) map.set(key, found);
  return found;
}

export const flag = (value: boolean): SqlValue => (value ? 1 : 0);
