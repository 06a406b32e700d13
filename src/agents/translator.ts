/**
 * What an agent's translator is: native messages in, drafts out. Not here: which process the messages come from (contract.ts), and what becomes of the drafts (session).
 */
import type { Draft } from "../schema/draft.ts";
import type { Disposition, NativeDirection } from "../schema/native.ts";

export type { Disposition, NativeDirection } from "../schema/native.ts";

export type NativeMessage = {
  dir: NativeDirection;
  /** The parsed JSON; a string when the line was not JSON. */
  data: unknown;
};

/**
 * What one native message means. Every message yields at least one of these.
 */
export type Translation = {
  /**
   * The native session it belongs to, null when it concerns the whole process (then every session on it gets it). A message that belongs to a
   * session whose id is not known yet may use an address of the translator's own making; a later `bind` says which one it was.
   */
  session: string | null;
  /** The native type, for the coverage table: `system/init`, `item/started:commandExecution`. Bounded in number: no ids in it. */
  type: string;
  disposition: Disposition;
  drafts: Draft[];
  /** Only for unparsed: what was not understood. */
  error?: string;
  /** Only for mapped without drafts: why there is nothing to say. From the translator's table. */
  silent?: string;
  /** Everything addressed to `from` so far belongs to `session`. */
  bind?: { from: string };
  /** Only for one that is a single delta: the messages that follow may mean the same with another text. */
  repeat?: Repeat;
};

/** The way to a value in a message: keys and indexes. */
export type JsonPath = readonly (string | number)[];

/**
 * The next message, when it differs from this one only in the text at `path` and in what is `ignored`, means the same with that text as its delta. So
 * the pieces of a streamed answer are not translated one by one. It holds until any other message is translated.
 */
export type Repeat = {
  path: JsonPath;
  ignored?: readonly JsonPath[];
  /** In place of `translate`: remembers what that would remember. False: this text means something else, and nothing was remembered. */
  say(text: string): boolean;
};

/** What takes the next message in place of `Channel.record`, when it repeats the one before. */
export type Repeated = Pick<Repeat, "path" | "ignored"> & {
  /** False: nothing was recorded, it is a message like any other. */
  take(raw: string, text: string): boolean;
};

/** A native type, its beginning followed by `*` or its end after one, and a reason in words. The first that fits counts. */
export type SilenceTable = readonly (readonly [type: string, reason: string])[];

/**
 * Turns native messages into drafts. Stateful, but pure: no I/O, no clock, no randomness, so that the same messages always give the same drafts, live
 * and in replay. Guaranteed by the caller: messages of both directions arrive in wire order, each once. A translator must accept any input: what it
 * does not understand is `unparsed`, never dropped, never thrown. One translator serves one process with all sessions on it.
 *
 * Both directions matter: what we send opens the client's turn (`turn.start`), makes the user's message where the agent does not echo it, and resolves
 * requests. In a recorded trace the client may have behaved otherwise than our connection does; it must still translate.
 */
export interface Translator {
  translate(message: NativeMessage): Translation[];
  /**
   * How long item keys hold. Absent or `process`: for one process, a later one may count from one again. `session`: they are the agent's own lasting ids, so that an
   * item reported again after a restart is recognised and not shown twice.
   */
  readonly keys?: "process" | "session" | undefined;
  /** The agent starts a process for each message, and this one reads them one after the other. Absent: each process has a translator of its own. */
  readonly manyProcesses?: true;
  /** Why messages of some types make no event. A mapped message of another type makes one. */
  readonly silence?: SilenceTable;
  /** What was reported about this native session was dropped, because nobody claimed it: what is remembered of it may go too. */
  forget?(session: string): void;
}
