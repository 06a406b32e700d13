/**
 * What an agent keeps of a session on the machine where it runs, carried in the log: so that the session goes on with its history on another machine. It is stored when
 * a turn has ended and when the agent is put to rest, in pieces that are named by their content, so that only what is new is written; it is put back before the
 * agent starts where it is not known. It goes with the session's stream. A daemon that has its log to itself puts back what it finds there, once, and stores nothing.
 * Not here: which files those are (`Agent.carry`).
 */
import { constants } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type Agent, AgentError, type AgentHost, type Carry, type CarryPlace } from "../agents/contract.ts";
import { isNotThere } from "../agents/not-there.ts";
import type { Log, StreamDocuments } from "../log/contract.ts";
import { LogError } from "../log/log-error.ts";
import {
  bytesOf,
  type CarriedFile,
  type CarriedList,
  idsOf,
  inside,
  nameOf,
  type Piece,
  readAt,
  textOf,
} from "./carried-pieces.ts";
import { parseRow, type SessionRow } from "./session-row.ts";

/** What a node of a fleet says about itself. `homes`: the folders of the users' programs are not shared either. */
export type CarryOptions = { node: string; homes: boolean };

/** Kinds of the stream's documents. */
const LIST = "carried_files";
const PIECE = "carried_piece";
export const CARRIED_KINDS = [LIST, PIECE] as const;

/** A piece is at most so large; one at the end that is smaller than the other is written anew with what follows it. */
const PIECE_BYTES = 256 * 1024;
const SMALL_BYTES = 64 * 1024;
/** Agents write the last lines of a turn a moment after they have reported its end. */
const LATE_MS = 1_000;
/** Of one session, together. A conversation is far smaller; what an agent was made to write, with holes perhaps, must not fill the log of all. */
const MAX_BYTES = 1024 * 1024 * 1024;
const MAX_FILES = 10_000;
/** Short, since the name of a file may be as long as the system allows, and always the same for a session, so that none pile up where a daemon dies. */
const TEMPORARY = ".dragoman-carried-";

/** A pipe that was put there would be waited for, and a link followed. */
const READ_ONLY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

type CarriedMemoryOptions = {
  carry: Carry;
  host: AgentHost;
  /** Null: the log is one daemon's. */
  node: string | null;
  row: Readonly<SessionRow>;
  documents: StreamDocuments;
  log: { documents: Pick<Log["documents"], "get">; row: Log["row"] };
  /** Committed with what was put into the documents before, and refused with it. */
  save(carried: string | null): void;
  committed(): Promise<void>;
};

/** Null: it is not carried, because it lies where the other nodes find it, or the agent cannot. `options` undefined: the log is one daemon's, and may once have been a fleet's. */
export function mustCarry(
  { carry }: Agent,
  options: CarryOptions | undefined,
  { carried, fork }: Pick<SessionRow, "carried" | "fork">,
): Carry | null {
  if (!carry) return null;
  const must = options ? options.homes || carry.kept === "data_directory" : fork || typeof carried === "string";
  return must ? carry : null;
}

/** Whether another node could go on with a session of this agent in a shared directory. */
export const canMove = (agent: Agent | undefined, { homes }: Pick<CarryOptions, "homes">): boolean =>
  !homes || agent?.carry !== undefined;

export class CarriedMemory {
  readonly #options: CarriedMemoryOptions;
  #list: CarriedList | null = null;
  #brought: Promise<void> | null = null;
  #storing: Promise<void> | null = null;
  #again = false;
  /** Pieces that were stored for a list that is not stored yet. */
  readonly #loose = new Set<string>();
  /** The agent may have run here. */
  #touched = false;
  #closed = false;
  #late: NodeJS.Timeout | undefined;

  constructor(options: CarriedMemoryOptions) {
    this.#options = options;
  }

  /** What cannot be stored now is stored after the next turn. */
  turnEnded(): void {
    void this.#storeSoon();
    clearTimeout(this.#late);
    this.#late = setTimeout(() => void this.#storeSoon(), LATE_MS).unref();
  }

  /** The agent does not run any more. Resolves when what it left is stored, or cannot be; never rejects. */
  async rested(): Promise<void> {
    clearTimeout(this.#late);
    if (this.#touched) await this.#storeSoon();
  }

  /** The object is of no use any more: nothing of it can be written. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#late);
  }

  /** Before the agent starts, and before it is asked about its memory: puts it where the agent finds it. Once; rejects when it is there in the log and cannot be put back. */
  bring(): Promise<void> {
    this.#touched = true;
    this.#brought ??= this.#bring().catch((error: unknown) => {
      this.#brought = null;
      throw error;
    });
    return this.#brought;
  }

  #storeSoon(): Promise<void> {
    this.#again = this.#storing !== null;
    this.#storing ??= this.#storeAll().finally(() => {
      this.#storing = null;
    });
    return this.#storing;
  }

  async #storeAll(): Promise<void> {
    do {
      this.#again = false;
      try {
        if (!this.#closed) await this.#store();
      } catch (error) {
        if (this.#closed) return;
        this.#options.host.log("warn", "what the agent remembers could not be stored for other nodes", {
          session_id: this.#options.row.session_id,
          error: String(error),
        });
      }
    } while (this.#again);
  }

  async #store(): Promise<void> {
    const { carry, row, documents, node } = this.#options;
    const place = this.#place;
    // The conversation of a fork is another session's until the agent has branched off.
    if (!place || node === null || row.fork) return;
    const folder = carry.folder(place);
    const before = (await this.#stored())?.files ?? [];
    const files: CarriedFile[] = [];
    const paths = (await carry.files(place)).filter((path) => !basename(path).startsWith(TEMPORARY)).sort();
    if (paths.length > MAX_FILES) throw new Error(`These are ${paths.length} files; at most ${MAX_FILES} are stored.`);
    let room = MAX_BYTES;
    for (const path of paths) {
      const pieces = await this.#pieces(join(folder, path), before.find((file) => file.path === path)?.pieces ?? [], room);
      if (pieces === null) continue;
      files.push({ path, pieces });
      for (const { bytes } of pieces) room -= bytes;
    }
    const list: CarriedList = { node, files };
    const body = JSON.stringify(list);
    const id = nameOf(Buffer.from(body));
    if (files.length === 0 || id === row.carried) return;
    this.#mustBeOpen();
    if (typeof row.carried === "string") documents.delete(LIST, row.carried);
    documents.put(LIST, id, body, { apart: true });
    const kept = idsOf(files);
    for (const piece of [...idsOf(before), ...this.#loose]) if (!kept.has(piece)) documents.delete(PIECE, piece);
    this.#loose.clear();
    this.#options.save(id);
    this.#list = list;
    await this.#options.committed();
  }

  #mustBeOpen(): void {
    if (this.#closed) throw new Error("The session is not here any more.");
  }

  /** Null: the file is gone, or is none any more. What was stored of it and has not changed is only compared. */
  async #pieces(file: string, before: readonly Piece[], room: number): Promise<Piece[] | null> {
    const handle = await open(file, READ_ONLY).catch((error: unknown) => {
      if (isNotThere(error)) return null;
      throw error;
    });
    if (!handle) return null;
    try {
      const stat = await handle.stat();
      if (!stat.isFile()) return null;
      const { size } = stat;
      if (size > room)
        throw new Error(`With ${file} these are more than ${MAX_BYTES / 1024 / 1024} MiB, which is the most that is stored.`);
      const pieces: Piece[] = [];
      let at = 0;
      for (const piece of before) {
        const whole = piece.bytes >= SMALL_BYTES && at + piece.bytes <= size;
        if (!whole || nameOf(await readAt(handle, at, piece.bytes)) !== piece.id) break;
        pieces.push(piece);
        at += piece.bytes;
      }
      while (at < size) {
        const bytes = await readAt(handle, at, Math.min(PIECE_BYTES, size - at));
        if (bytes.length === 0) break;
        this.#mustBeOpen();
        const id = nameOf(bytes);
        if (!before.some((piece) => piece.id === id)) {
          this.#loose.add(id);
          this.#options.documents.put(PIECE, id, textOf(bytes), { apart: true });
        }
        // A long file is not held in memory.
        if (bytes.length === PIECE_BYTES) await this.#options.committed();
        pieces.push({ id, bytes: bytes.length });
        at += bytes.length;
      }
      return pieces;
    } finally {
      await handle.close();
    }
  }

  async #bring(): Promise<void> {
    const { carry, host, node, row } = this.#options;
    const place = this.#place;
    const list = place && (await this.#stored());
    if (!place || !list) return;
    const folder = carry.folder(place);
    try {
      // What this node stored last it still has, and perhaps more of it.
      if (list.node === node && (await carry.files(place)).length > 0) return;
      for (const { path, pieces } of list.files) await this.#write(join(folder, inside(path)), pieces);
    } catch (error) {
      if (error instanceof LogError) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw new AgentError(
        "agent_failed_to_start",
        `What the agent remembers of this session cannot be put into ${folder}: ${reason}. Mend that and send the message again, or go on in a new session.`,
        { cause: error },
      );
    }
    host.log("info", "took over what the agent remembers", { session_id: row.session_id, from: list.node });
    if (node === null && this.#source === row.session_id) await this.#letGo(list.files);
  }

  /** It is where it belongs, and nobody else needs it. */
  async #letGo(files: readonly CarriedFile[]): Promise<void> {
    const { row, documents, save, committed } = this.#options;
    if (typeof row.carried === "string") documents.delete(LIST, row.carried);
    for (const piece of idsOf(files)) documents.delete(PIECE, piece);
    save(null);
    this.#list = null;
    await committed();
  }

  /** Whole or not at all. */
  async #write(file: string, pieces: readonly Piece[]): Promise<void> {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const temporary = join(dirname(file), `${TEMPORARY}${nameOf(Buffer.from(this.#options.row.session_id))}`);
    await rm(temporary, { force: true });
    try {
      const handle = await open(temporary, "wx", 0o600);
      try {
        for (const { id } of pieces) await handle.writeFile(await this.#piece(id));
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(temporary, file);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  async #piece(id: string): Promise<Buffer> {
    const body = await this.#options.log.documents.get(PIECE, `${this.#source}/${id}`);
    const bytes = body === undefined ? null : bytesOf(body);
    if (bytes === null || nameOf(bytes) !== id)
      throw new Error(`A piece of what the agent of ${this.#source} remembers is ${bytes === null ? "missing" : "damaged"}.`);
    return bytes;
  }

  /** What is stored of it; null: nothing. */
  async #stored(): Promise<CarriedList | null> {
    if (this.#list) return this.#list;
    const { row, log } = this.#options;
    const source = this.#source;
    const own = source === row.session_id;
    const origin = own ? undefined : await log.row("session", source);
    const id = own ? row.carried : carriedOf(origin, row);
    const body = typeof id !== "string" ? undefined : await log.documents.get(LIST, `${source}/${id}`);
    const list = body === undefined ? null : (JSON.parse(body) as CarriedList);
    if (own) this.#list = list;
    return list;
  }

  /** The session whose agent's memory is meant: a fork begins with that of the one it branches off from. */
  get #source(): string {
    const { fork, forked_from, session_id } = this.#options.row;
    return fork && forked_from !== null ? forked_from : session_id;
  }

  get #place(): CarryPlace | null {
    const { row, host } = this.#options;
    const { native_session_id, directory, env } = row;
    return native_session_id === null ? null : { native_session_id, directory, environment: host.environment(env), host };
  }
}

/** Of an imported session any other can be named as the one it branches off from: only one with the same conversation is. */
function carriedOf(
  origin: { state: string } | undefined,
  { agent, native_session_id }: Readonly<SessionRow>,
): SessionRow["carried"] {
  const row = origin && parseRow(origin.state);
  return row?.agent === agent && row.native_session_id === native_session_id ? row.carried : null;
}
