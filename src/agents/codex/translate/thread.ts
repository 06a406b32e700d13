// What the translator remembers of one native thread. Pure state with a few questions about it; it makes no drafts.
import type { DraftPart, ItemKey } from "../../../schema/draft.ts";
import type { ErrorCode, Usage } from "../../../schema/event-data.ts";
import type { JsonRecord } from "../../json.ts";

/** One native item between its start and its end. */
export type NativeItem = {
  /** Key of the native item and, unless `item` is another, of the universal one; for a tool, of its `tool_call`. */
  key: ItemKey;
  /** Key of the universal item. Reasoning and the text that follows it are one message. */
  item: ItemKey;
  /** Place of its first part in that message. */
  base: number;
  id: string;
  /** What its call is called: its id, unless that is the id of another open call of the session. */
  callId: string;
  type: string;
  turnId: string;
  parent: ItemKey | null;
  /** The item as the server last showed it. */
  shown: JsonRecord;
  /** False until drafts announced it. */
  announced: boolean;
  /** Text or output streamed so far. */
  streamed: string;
  /** Reasoning only: which native part each universal part is, `s0` a summary, `c0` raw text. */
  slots: string[];
  resultStarted: boolean;
  /** Commands only: a process exists, so the end of the turn does not end it. */
  running: boolean;
  /** Commands only: it goes on after its turn, so it was reported as a task. */
  isTask: boolean;
  /** MCP calls only: a person was asked about it. */
  asked: boolean;
  /** `Thread.calls` when it was opened. */
  callsBefore: number;
};

type NewItem = Pick<NativeItem, "key" | "id" | "callId" | "type" | "turnId" | "parent" | "shown" | "callsBefore">;

/** One of which nothing was reported yet. */
export const newItem = (item: NewItem): NativeItem => ({
  ...item,
  item: item.key,
  base: 0,
  announced: false,
  streamed: "",
  slots: [],
  resultStarted: false,
  running: false,
  isTask: false,
  asked: false,
});

export type OpenTurn = {
  /** Null from our request until the server names it. */
  id: string | null;
  usage: Usage | null;
  /** The final error was reported already; turn/completed repeats it. */
  error: ErrorCode | null;
  /** Keys of everything announced in it, for a later revert. */
  keys: ItemKey[];
};

export type RawCall = { name: string; arguments: string; itemsBefore: number };

/** A sub-agent's place in its parent's session. */
export type ChildLink = {
  parentThread: string;
  spawnKey: ItemKey | null;
  /** No item has named the call yet: it is one that was running when the thread was first heard of. */
  guessed: boolean;
};

const REMEMBERED_TURNS = 200;
const REMEMBERED_KEYS = 5_000;

export class Thread {
  readonly id: string;
  child: ChildLink | null = null;
  cwd: string | null = null;
  /** The policies our own requests asked for. */
  policies: JsonRecord = {};
  /** What config.changed said last, as JSON text per field. */
  readonly config = new Map<string, string>();
  readonly mcpServers = new Map<string, { name: string; status: string; error?: string }>();
  readonly open = new Map<ItemKey, NativeItem>();
  /** Ids of open items, of this thread and of those it works with: sub-agents share it with their parent. */
  openIds = new Map<string, ItemKey>();
  turn: OpenTurn | null = null;
  /** The assistant message tool calls of this model response belong to. */
  message: ItemKey | null = null;
  /** The message that is being written, and its finished parts. */
  answer: { key: ItemKey; parts: DraftPart[] } | null = null;
  /** Model responses so far. */
  responses = 0;
  /** The answer that the model is giving now, and how many there were. */
  step: string | null = null;
  steps = 0;
  /** Turn ids our own requests asked for. */
  readonly clientTurns = new Set<string>();
  /** A turn-opening request of ours that is not answered yet. */
  awaited = 0;
  compactRequested = false;
  /** A compaction of this turn was reported. */
  compactionTold = false;
  retrying = false;
  goal = false;
  lastDiff = "";
  lastTotals = "";
  /** All that its model used so far. */
  total: Usage | null = null;
  contextUsed: number | null = null;
  /** Why its last turn failed. */
  failure: string | null = null;
  /** Text of the last finished assistant message: a sub-agent's answer. */
  lastText = "";
  /** Tool items so far: shows whether a code-mode script made any. */
  toolItems = 0;
  /** Tool calls reported so far, of items and of raw response items. */
  calls = 0;
  /** Calls of raw response items that wait for their output, by call id. */
  readonly rawCalls = new Map<string, RawCall>();
  revertBefore: string | null = null;
  /** Content of a message of ours that an answer showed already, as JSON: its item repeats it. */
  saidByAnswer: string | null = null;
  /** A refusal was reported with its own words in this turn. */
  refused = false;
  readonly #ended = new Map<string, ItemKey[]>();
  readonly #closed = new Set<ItemKey>();
  readonly #generations = new Map<string, number>();

  constructor(id: string) {
    this.id = id;
  }

  /** Where tools of this model response hang. A response without words has a message all the same: the session makes it. */
  toolParent(turnId: string): ItemKey {
    return this.message ?? this.child?.spawnKey ?? `${turnId}/response:${this.responses}`;
  }

  /** The model has answered: what follows belongs to the next answer. */
  responseEnded(): void {
    this.message = null;
    this.responses++;
  }

  /**
   * Turn ids are unique for ever, item ids are the provider's and may come again: so the key has both. An id that comes again inside one turn gets
   * a number.
   */
  keyOf(turnId: string, itemId: string): ItemKey {
    const base = `${turnId}/${itemId}`;
    const generation = this.#generations.get(base);
    return generation === undefined ? base : `${base}#${generation}`;
  }

  nextGeneration(turnId: string, itemId: string): void {
    const base = `${turnId}/${itemId}`;
    this.#generations.set(base, (this.#generations.get(base) ?? 1) + 1);
  }

  isClosed(key: ItemKey): boolean {
    return this.#closed.has(key);
  }

  close(item: NativeItem): void {
    this.open.delete(item.key);
    if (this.openIds.get(item.id) === item.key) this.openIds.delete(item.id);
    this.#closed.add(item.key);
    trim(this.#closed, REMEMBERED_KEYS);
  }

  hasEnded(turnId: string): boolean {
    return this.#ended.has(turnId);
  }

  endTurn(turnId: string | null, keys: ItemKey[]): void {
    if (turnId !== null) this.#ended.set(turnId, keys);
    trim(this.#ended, REMEMBERED_TURNS);
    if (this.#generations.size > REMEMBERED_KEYS) this.#generations.clear();
    this.turn = null;
    this.answer = null;
    this.step = null;
    this.responseEnded();
    this.lastDiff = "";
    this.refused = false;
    this.compactionTold = false;
    this.saidByAnswer = null;
  }

  /** Forgets this turn and all later ones, and returns the keys of what was in them, newest first. */
  dropFrom(turnId: string): ItemKey[] {
    const turns = [...this.#ended.keys()];
    const at = turns.indexOf(turnId);
    if (at < 0) return [];
    const keys: ItemKey[] = [];
    for (const turn of turns.slice(at)) {
      keys.push(...(this.#ended.get(turn) ?? []));
      this.#ended.delete(turn);
    }
    return keys.reverse();
  }
}

/** Drops the oldest entries of an insertion-ordered collection. */
function trim(collection: Set<string> | Map<string, unknown>, limit: number): void {
  for (const key of collection.keys()) {
    if (collection.size <= limit) return;
    collection.delete(key);
  }
}
