/** What the committed events must say: each accepted message has one turn, which began before its agent got it, and no turn is cut by a session that moves. */
import type { UniversalEvent } from "../../schema/event.ts";
import { checkGrammar } from "../../schema/grammar.ts";
import type { Line, Tables } from "./test-tables.ts";
import { Violation, type World } from "./test-world.ts";

type Told = {
  type: string;
  data: { message_id?: string; turn_id?: string; text?: string; reason?: string; stop_reason?: string; epoch?: number };
};
type Message = { session: string; message_id: string; turn_id: string; text: string; removed: string | null };
/** `owner`: which owner of the session began it, by the epochs of the registry. `epoch`: the log's, in which it ended. */
type Turn = { session: string; begun: number; ended: number; owner: number; epoch: number; stop: string | null };

export class Story {
  moves = 0;
  readonly #world: World;
  readonly #messages = new Map<string, Message>();
  readonly #turns = new Map<string, Turn>();
  readonly #lastTurn = new Map<string, Turn>();
  readonly #given = new Set<string>();
  /** Epochs of owners that `session.moved` named, by session. */
  readonly #told = new Map<string, Set<number>>();
  readonly #tables: Tables;

  constructor(world: World, tables: Tables, say: (line: string) => void) {
    this.#world = world;
    this.#tables = tables;
    tables.onLine = (session, line, sequence) => {
      say(`${line.by}: ${session}:${sequence} under ${line.epoch}: ${line.text}`);
      this.#hear(session, line);
    };
  }

  /** [O9] */
  started(nodeId: string, directory: string): void {
    const only = /^\/only\/([^/]+)/.exec(directory)?.[1];
    if (only !== undefined && only !== nodeId) this.#fail(`${nodeId} started an agent in ${directory}, which it does not have`);
  }

  /** [O7] */
  prompted(text: string): void {
    if (this.#given.has(text)) this.#fail(`${text} was given to an agent twice`);
    this.#given.add(text);
    const begun = [...this.#messages.values()].some((each) => each.text === text && this.#turns.has(each.turn_id));
    if (!begun) this.#fail(`${text} was given to an agent before its turn was committed`);
  }

  check(accepted: ReadonlyMap<string, string>): void {
    for (const [session, lines] of this.#tables.lines) {
      const [broken] = checkGrammar(lines.map(({ text }) => JSON.parse(text) as UniversalEvent));
      if (broken) throw new Violation(`${session}:${broken.sequence} breaks ${broken.rule}: ${broken.message}`);
    }
    for (const { session_id, epoch, moved_reason } of this.#tables.owners.values()) {
      const told = this.#told.get(session_id)?.has(epoch) ?? false;
      const isThere = (this.#tables.lines.get(session_id)?.length ?? 0) > 0;
      if (isThere && told !== (moved_reason === "takeover" || moved_reason === "move"))
        throw new Violation(
          `${session_id} has its owner by ${moved_reason} (epoch ${epoch}), which its events say ${told ? "" : "not"}`,
        );
    }
    for (const [text, session] of accepted) {
      const all = [...this.#messages.values()].filter((each) => each.text === text && each.removed !== "refused");
      if (all.length !== 1) throw new Violation(`${text} of ${session} was accepted ${all.length} times`);
      const turn = this.#turns.get(all[0]?.turn_id ?? "");
      if (turn?.begun !== 1) throw new Violation(`${text} of ${session} began ${turn?.begun ?? 0} times`);
      if (turn.ended !== 1) throw new Violation(`the turn of ${text} of ${session} ended ${turn.ended} times`);
    }
  }

  #hear(session: string, { text, epoch }: Line): void {
    const { type, data } = JSON.parse(text) as Told;
    const { message_id = "", turn_id = "" } = data;
    if (type === "message.queued")
      this.#messages.set(message_id, { session, message_id, turn_id, text: data.text ?? "", removed: null });
    const message = this.#messages.get(message_id);
    if (type === "message.removed" && message) message.removed = data.reason ?? "";
    if (type === "turn.started") {
      const owner = this.#tables.owners.get(session)?.epoch ?? 0;
      const turn = this.#turns.get(turn_id) ?? { session, begun: 0, ended: 0, owner, epoch, stop: null };
      turn.begun++;
      this.#turns.set(turn_id, turn);
      this.#lastTurn.set(session, turn);
    }
    const turn = this.#turns.get(turn_id);
    if (type === "turn.ended" && turn) Object.assign(turn, { ended: turn.ended + 1, stop: data.stop_reason ?? "", epoch });
    if (type === "session.moved") this.#moved(session, data, epoch);
  }

  /**
   * [O10] Who gives a session away waits for the end of the turn that it began: its next owner finds nothing to close. A turn that was cut before that by a takeover is closed by
   * whoever first can.
   */
  #moved(session: string, { reason, epoch: owner = 0 }: Told["data"], epoch: number): void {
    this.moves++;
    const told = this.#told.get(session) ?? new Set();
    if (told.has(owner)) this.#fail(`${session} says twice that it moved under epoch ${owner}`);
    this.#told.set(session, told.add(owner));
    const last = this.#lastTurn.get(session);
    if (reason === "move" && last?.stop === "interrupted" && last.epoch === epoch && last.owner === owner - 1)
      this.#fail(`${session} was given away in the middle of a turn`);
  }

  #fail(message: string): void {
    this.#world.fail(new Violation(message));
  }
}
