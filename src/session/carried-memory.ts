/**
 * What an agent keeps of a session on the machine where it runs, carried in the log: so that the session goes on with its history on another machine. It is stored when
 * a turn has ended and when the agent is put to rest, in pieces that are named by their content, so that only what is new is written; it is put back before the
 * agent starts where it is not known. It goes with the session's stream. A daemon that has its log to itself puts back what it finds there, once, and stores nothing.
 * Not here: which files those are (`Agent.carry`).
 */
import { createHash, randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import { type Agent, AgentError, type AgentHost, type Carry, type CarryPlace } from "../agents/contract.ts";
import type { Log, StreamDocuments } from "../log/contract.ts";
import { LogError } from "../log/log-error.ts";
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

type Piece = { id: string; bytes: number };
type CarriedFile = { path: string; pieces: Piece[] };
type CarriedList = { node: string; files: CarriedFile[] };

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
    for (const path of [...(await carry.files(place))].sort()) {
      const pieces = await this.#pieces(join(folder, path), before.find((file) => file.path === path)?.pieces ?? []);
      if (pieces !== null) files.push({ path, pieces });
    }
    const list: CarriedList = { node, files };
    const body = JSON.stringify(list);
    const id = nameOf(Buffer.from(body));
    if (files.length === 0 || id === row.carried) return;
    if (typeof row.carried === "string") documents.delete(LIST, row.carried);
    documents.put(LIST, id, body, { apart: true });
    const kept = idsOf(files);
    for (const piece of idsOf(before)) if (!kept.has(piece)) documents.delete(PIECE, piece);
    this.#options.save(id);
    this.#list = list;
    await this.#options.committed();
  }

  /** Null: the file is gone. What was stored of it and has not changed is only compared. */
  async #pieces(file: string, before: readonly Piece[]): Promise<Piece[] | null> {
    const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => null);
    if (!handle) return null;
    try {
      const { size } = await handle.stat();
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
        const id = nameOf(bytes);
        if (!before.some((piece) => piece.id === id)) this.#options.documents.put(PIECE, id, textOf(bytes), { apart: true });
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
    // What this node stored last it still has, and perhaps more of it.
    if (list.node === node && (await carry.files(place)).length > 0) return;
    const folder = carry.folder(place);
    try {
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
    const temporary = `${file}.${randomBytes(6).toString("hex")}.tmp`;
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
    const id = own ? row.carried : origin && parseRow(origin.state).carried;
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

const nameOf = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex").slice(0, 40);

const idsOf = (files: readonly CarriedFile[]): Set<string> => new Set(files.flatMap(({ pieces }) => pieces.map(({ id }) => id)));

/** Documents are JSON: what is no text is written in base64. */
function textOf(bytes: Buffer): string {
  const text = bytes.toString("utf8");
  return JSON.stringify(Buffer.from(text).equals(bytes) ? { text } : { base64: bytes.toString("base64") });
}

function bytesOf(body: string): Buffer {
  const { text, base64 } = JSON.parse(body) as { text?: string; base64?: string };
  return text === undefined ? Buffer.from(base64 ?? "", "base64") : Buffer.from(text);
}

/** The log is no reason to write elsewhere. */
function inside(path: string): string {
  const plain = normalize(path);
  if (plain.startsWith("..") || plain.startsWith("/") || plain === ".")
    throw new Error(`${JSON.stringify(path)} lies outside the agent's folder.`);
  return plain;
}

async function readAt(handle: FileHandle, at: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let read = 0;
  while (read < length) {
    const { bytesRead } = await handle.read(bytes, read, length - read, at + read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return bytes.subarray(0, read);
}
