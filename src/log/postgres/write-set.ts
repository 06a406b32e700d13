/**
 * What one commit writes, as data: it can be sent again as it is, and without a stream that turned out to be another writer's. All texts and bodies travel
 * in one parameter of bytes; numbers say where each lies.
 */
import type { ArtifactInfo, StreamKind } from "../contract.ts";
import type { LogError } from "../log-error.ts";
import { checksumBehind, checksumOf, sealed } from "../packing/checksum.ts";
import type { PendingChunk } from "../packing/event-chunk.ts";
import type { NativeChunk } from "../packing/native-chunk.ts";
import type { CommitNumber } from "./commit-numbers.ts";
import type { SqlParameter } from "./connection.ts";

export type StreamPart = {
  no: number;
  kind: StreamKind;
  id: string;
  epoch: number;
  /** The last sequence before this commit. */
  expected: number;
  last: number;
  lastNative: number;
  openSince: number | null;
  at: number;
  /** When it is new: since when. */
  created: number | null;
  state: string | null;
  chunks: readonly PendingChunk[];
  natives: readonly NativeChunk[];
  /** It is not this writer's any more, or never was: nothing of it was written. */
  refuse(error: LogError): void;
};

/** `stream`: whose writer put it, and with which it is refused. `apart`: it is not loaded with that writer. */
export type DocumentChange = {
  kind: string;
  id: string;
  stream: number | null;
  apart?: boolean;
  body: string | null;
  expiresAt: number | null;
};
export type ArtifactPart = { info: ArtifactInfo; bytes: Buffer };
export type ArtifactLink = { artifactId: string; stream: number };

export class WriteSet {
  streams: StreamPart[] = [];
  documents: DocumentChange[] = [];
  artifacts: ArtifactPart[] = [];
  links: ArtifactLink[] = [];

  get isEmpty(): boolean {
    return this.streams.length + this.documents.length + this.artifacts.length + this.links.length === 0;
  }

  /** Chunks of events and of native messages. */
  get rows(): number {
    return this.streams.reduce((sum, { chunks, natives }) => sum + chunks.length + natives.length, 0);
  }

  /** Leaves out everything of these streams. */
  drop(numbers: ReadonlySet<number>): void {
    this.streams = this.streams.filter(({ no }) => !numbers.has(no));
    this.documents = this.documents.filter(({ stream }) => stream === null || !numbers.has(stream));
    this.links = this.links.filter(({ stream }) => !numbers.has(stream));
  }
}

export const COMMIT = `SELECT dragoman.commit_3(${Array.from({ length: 28 }, (_, index) => `$${index + 1}`).join(", ")}) AS xid`;

/** `owner`: see the table of logs; `node`: who owns streams that are new. */
export type Names = { tenant: string; owner: string | null; node: string | null };

/** The parameters of `COMMIT`. */
export function encode(set: WriteSet, names: Names, { committer, number }: CommitNumber): SqlParameter[] {
  const bytes = new Bytes();
  // In order of their numbers, so that two commits never wait for each other crosswise.
  const streams = [...set.streams].sort((a, b) => a.no - b.no);
  const columns = [
    streams.map(({ no }) => no),
    streams.map(({ epoch }) => epoch),
    streams.map(({ expected }) => expected),
    streams.map(({ last }) => last),
    streams.map(({ lastNative }) => lastNative),
    streams.map(({ openSince }) => openSince),
    streams.map(({ at }) => at),
    ...transposed(8, eventRows(set.streams, bytes)),
    ...transposed(7, nativeRows(set.streams, bytes)),
  ];
  const more = moreOf(set, names.node, bytes);
  return [names.tenant, names.owner, committer, number, bytes.whole(), ...columns.map(arrayOf), more];
}

function eventRows(streams: readonly StreamPart[], bytes: Bytes): number[][] {
  const rows: number[][] = [];
  for (const { no, chunks } of streams)
    for (const chunk of chunks) {
      const { first, events } = chunk;
      const [last, types, natives] = [first + events.count - 1, chunk.types.toString(), chunk.natives.toString()];
      const checksum = checksumOf(no, first, last, types, natives);
      chunk.body = events.body();
      const from = bytes.length;
      const sizes = [bytes.text(sealed(types, checksum)), bytes.text(natives), bytes.add(chunk.body)];
      rows.push([no, first, last, from, ...sizes, checksumBehind(checksum, chunk.body)]);
    }
  return rows;
}

function nativeRows(streams: readonly StreamPart[], bytes: Bytes): number[][] {
  const rows: number[][] = [];
  for (const { no, natives } of streams)
    for (const chunk of natives) {
      const { first, last } = chunk;
      const [head, body, from] = [chunk.head(), chunk.body(), bytes.length];
      const sizes = [bytes.text(head), bytes.add(body)];
      rows.push([no, first, last, from, ...sizes, nativeChecksum(no, first, last, head, body)]);
    }
  return rows;
}

export const nativeChecksum = (stream: number, first: number, last: number, head: string, body: Buffer): number =>
  checksumBehind(checksumOf(stream, first, last, head), body);

/** What most commits do not have. */
function moreOf(set: WriteSet, node: string | null, bytes: Bytes): string | null {
  const more: Record<string, unknown[]> = {
    created: set.streams.flatMap(({ no, kind, id, epoch, created }) =>
      created === null ? [] : [{ no, kind, id, at: created, epoch, owner: node }],
    ),
    states: set.streams.flatMap(({ no, kind, state }) =>
      state === null ? [] : [{ no, kind, at: bytes.length, size: bytes.text(state), ...fieldsOf(state) }],
    ),
    removed: set.documents.flatMap(({ kind, id, body }) => (body === null ? [{ kind, id }] : [])),
    documents: set.documents.flatMap(({ kind, id, stream, apart, body, expiresAt: expires }) =>
      body === null ? [] : [{ kind, id, stream: apart ? null : stream, at: bytes.length, size: bytes.text(body), expires }],
    ),
    artifacts: set.artifacts.map(({ info: { artifact_id: id, kind, mime, name, bytes: size, created_at } }) => ({
      ...{ id, kind: plain(kind), mime: plain(mime), name: name === null ? null : plain(name), bytes: size, at: created_at },
    })),
    parts: set.artifacts.flatMap(({ info, bytes: content }) => partsOf(info.artifact_id, content, bytes)),
    links: set.links.map(({ artifactId: id, stream }) => ({ id, stream })),
  };
  const filled = Object.entries(more).filter(([, rows]) => rows.length > 0);
  return filled.length === 0 ? null : JSON.stringify(Object.fromEntries(filled));
}

/** Rows of a size that the database handles well. */
export const PART_BYTES = 256 * 1024;

function partsOf(id: string, content: Buffer, bytes: Bytes): unknown[] {
  const parts: unknown[] = [];
  for (let from = 0; from < content.length; from += PART_BYTES) {
    const piece = content.subarray(from, from + PART_BYTES);
    parts.push({ id, part: parts.length, at: bytes.length, size: bytes.add(piece) });
  }
  return parts;
}

type Fields = {
  agent: string | null;
  directory: string | null;
  status: string | null;
  archived: boolean;
  pinned: boolean;
  tags: string[];
};

/** By which lists are filtered. A state that is no JSON has none. */
export function fieldsOf(state: string): Fields {
  let found: Record<string, unknown> = {};
  try {
    found = Object(JSON.parse(state));
  } catch {
    // See above.
  }
  const word = (value: unknown): string | null => (typeof value === "string" ? plain(value) : null);
  const { agent, directory, status, archived, pinned, tags } = found;
  const words = Array.isArray(tags) ? tags.filter((tag) => typeof tag === "string").map(plain) : [];
  return {
    agent: word(agent),
    directory: word(directory),
    status: word(status),
    archived: archived === true,
    pinned: pinned === true,
    tags: words,
  };
}

/** Without what a text in Postgres cannot hold. */
export const plain = (text: string): string => text.replace(/\p{Cs}|\0/gu, "\ufffd");

const arrayOf = (values: readonly (number | null)[]): string => `{${values.map((value) => value ?? "NULL").join(",")}}`;

function transposed(width: number, rows: readonly number[][]): number[][] {
  return Array.from({ length: width }, (_, column) => rows.map((row) => row[column] ?? 0));
}

class Bytes {
  readonly #pieces: Buffer[] = [];
  length = 0;

  /** How many there were. */
  add(piece: Buffer): number {
    this.#pieces.push(piece);
    this.length += piece.length;
    return piece.length;
  }

  text(text: string): number {
    return this.add(Buffer.from(text, "utf8"));
  }

  whole(): Buffer {
    return Buffer.concat(this.#pieces, this.length);
  }
}
