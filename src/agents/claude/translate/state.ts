// What the translator remembers between messages. Everything that belongs to a turn is forgotten when the turn ends, so that a session of
// many turns does not grow; what may outlive a turn (background work, the last known configuration) is small.

import type { PlanEntry } from "../../../schema/content.ts";
import type { DraftPart, ItemKey } from "../../../schema/draft.ts";
import type { ErrorData, PermissionOption, Usage } from "../../../schema/event-data.ts";
import type { JsonRecord } from "../../json.ts";
import { outlives } from "./scope.ts";

/** One process serves one session, also over `/clear`, `--resume` and `--fork-session`: a single address for everything. */
export const ADDRESS = "main";

export type BlockState = {
  type: string;
  /** Index of its part in the message; null until it has content, or for ever when it is an item of its own. */
  part: number | null;
  tool: string | null;
  /** The whole block came as an `assistant` message. */
  confirmed: boolean;
};

/** One API message on its way. */
export type MessageState = {
  id: string;
  key: ItemKey;
  scope: string;
  parent: ItemKey | null;
  /** Stream events announced it; otherwise whole blocks do. */
  streamed: boolean;
  parts: DraftPart[];
  blocks: Map<number, BlockState>;
  /** uuid of an `assistant` frame → what it made: the index of a part, the id of a call. */
  frames: Map<string, (number | string)[]>;
  tools: Set<string>;
  aborted: boolean;
  retracted: boolean;
  finishReason: string | null;
  /** As the API counts. */
  usage: JsonRecord | null;
};

/** What stays known of a message that is over. */
export type ToldMessage = Pick<MessageState, "key" | "frames" | "tools">;

export type ToolState = {
  id: string;
  name: string;
  input: JsonRecord;
  /** The arguments as they were streamed. */
  raw: string;
  message: ItemKey | null;
  scope: string;
  /** It has its result, and its work goes on in the background. */
  answered: boolean;
};

export type TaskState = {
  key: ItemKey;
  tool: string | null;
  /** The item of that call. */
  parent: ItemKey | null;
  label: string;
  background: boolean;
  /** It goes on after the turn: it is in the background, or its agent is. */
  outlives: boolean;
  /** The shell command that it runs; null: it is no command. */
  command: string | null;
  /** A sub-agent of a call, which says that it runs. */
  agent: boolean;
  /** It has a row in the transcript. */
  shown: boolean;
  /** Name of a team member, when the agent was given one. */
  member: string | null;
};

/** A question or permission the CLI waits for, by its request id. */
export type RequestState = {
  kind: "permission" | "question" | "plan" | "elicitation";
  key: string;
  call: string | null;
  /** The agent's id of the call. */
  callId: string | null;
  input: JsonRecord;
  /** Of a permission. */
  options: readonly PermissionOption[];
};

export type SentMessage = { key: ItemKey; uuid: string | null; text: string };

export type KnownConfig = {
  model: string | null;
  permissionMode: string | null;
  variant: string | null;
  tools: string;
  mcpServers: string;
  commands: string;
  skills: string;
  version: string;
  richCommands: boolean;
};

/** Far more than work in the background at a time. */
const REMEMBERED_CALLS = 1000;

export class ClaudeState {
  nativeSession: string | null = null;
  /** Any JSON on stdout yet? Without it, plain lines are the answer of `--output-format text`. */
  sawFrame = false;
  sawInit = false;
  sawLifecycle = false;
  /** Ids of the frames before. */
  readonly frames = new Set<string>();
  turnOpen = false;
  /** The turn is open and its next native turn has not begun. */
  between = false;
  turns = 0;
  /** The turn has shown something a person can read: then the result's text repeats it. */
  shown = false;
  interrupted = false;
  refused = false;
  /** The refusal's words were shown. */
  refusalShown = false;
  retrying = false;
  apiError: ErrorData | null = null;
  stderr: string[] = [];
  /** Sent and not yet taken by a turn. */
  waiting: SentMessage[] = [];
  /** Texts of this turn's own messages, to distinguish an echo from news. */
  sentTexts: string[] = [];
  readonly messages = new Map<string, MessageState>();
  /** How often a message id was opened: the second opening needs a key of its own. */
  readonly opened = new Map<string, number>();
  readonly tools = new Map<string, ToolState>();
  /** How many messages made a call of this id, and the last of them: some providers count the calls of each answer from 1. */
  readonly calls = new Map<string, { count: number; message: ItemKey }>();
  /** Calls that began under the id of one that is open in another conversation: where and what id → the name they have here. */
  readonly #twins = new Map<string, string>();
  readonly tasks = new Map<string, TaskState>();
  /** Agents by task id: the call that first started them, and their name in the team. */
  readonly roots = new Map<string, { scope: string | null; member: string | null }>();
  /** Calls whose work goes on behind the turns. */
  readonly background = new Set<string>();
  readonly requests = new Map<string, RequestState>();
  /** Our own control requests that are not answered yet. */
  readonly asked = new Map<string, JsonRecord>();
  readonly plans = new Map<string, ItemKey>();
  readonly todo = new Map<string, PlanEntry>();
  readonly members = new Map<string, { status: string; role: string | null }>();
  /** uuid of an `assistant` frame of this turn → its finished message, for late retractions. */
  readonly recent = new Map<string, ToldMessage>();
  /** Calls of this turn that were taken back: a late result of one is not told. */
  readonly retractedCalls = new Set<string>();
  /** Of the last result; null: there was none. */
  totalCost: number | null = null;
  /** Of the native turns that the open turn took so far. */
  turnUsage: Usage | null = null;
  contextUsed: number | null = null;
  plain: ItemKey | null = null;
  made = 0;
  config: KnownConfig = {
    model: null,
    permissionMode: null,
    variant: null,
    tools: "",
    mcpServers: "",
    commands: "",
    skills: "",
    version: "",
    richCommands: false,
  };

  /** A key for something the agent gave no id. */
  newKey(prefix: string, uuid?: string): ItemKey {
    if (uuid) return `${prefix}:${uuid}`;
    this.made += 1;
    return `${prefix}:${this.nativeSession ?? "new"}:${this.turns}:${this.made}`;
  }

  /** What the call with this id is called here. Sub-agents that work at the same time may have calls of one id, which some providers count for each of them. */
  callName(scope: string, id: string): string {
    return this.#twins.get(`${scope} ${id}`) ?? id;
  }

  /** The same for a call that this message makes. */
  nameCall(scope: string, id: string, message: ItemKey): string {
    const isOther = (name: string): boolean => {
      const open = this.tools.get(name);
      return open !== undefined && (open.scope !== scope || (open.answered && open.message !== message));
    };
    let name = this.callName(scope, id);
    for (let n = 1; isOther(name); n++) name = `${id}@${scope || "main"}${n === 1 ? "" : `#${n}`}`;
    if (name !== id) this.#twins.set(`${scope} ${id}`, name);
    return name;
  }

  /** What the call is called here that began this task: of several with one id the newest that has none. */
  callOfTask(id: string, parentTask: unknown): string {
    const inside = this.callName(this.scopeOfAgent(parentTask), id);
    if (typeof parentTask === "string" && this.tools.has(inside)) return inside;
    const taken = new Set([...this.tasks.values()].map(({ tool }) => tool));
    return [...this.tools.keys()].reverse().find((name) => isTwin(name, id) && !taken.has(name)) ?? id;
  }

  /** The conversation of a frame: the main one, or that of the sub-agent behind a call. Of two calls with one id, the agent's own id shows which. */
  scopeOf({ parent_tool_use_id: call, agent_id: agent }: JsonRecord): string {
    if (typeof call !== "string") return "";
    const scope = this.scopeOfAgent(agent);
    return isTwin(scope, call) ? scope : call;
  }

  /** The conversation of this agent, by its task id. */
  scopeOfAgent(agent: unknown): string {
    return (typeof agent === "string" ? this.roots.get(agent)?.scope : null) ?? "";
  }

  /** A call begins: one with the id of a call that is over has keys of its own. */
  countCall(id: string, message: ItemKey): void {
    const before = this.calls.get(id);
    if (before && (before.message === message || this.tools.has(id))) return;
    this.calls.delete(id);
    this.calls.set(id, { count: (before?.count ?? 0) + 1, message });
    for (const oldest of this.calls.keys()) {
      if (this.calls.size <= REMEMBERED_CALLS) break;
      this.calls.delete(oldest);
    }
  }

  /** Forgets the turn. */
  endTurn(): void {
    this.goOn();
    this.between = false;
    this.turnOpen = false;
    this.turnUsage = null;
    this.plans.clear();
  }

  /** Forgets the native turn; the turn goes on with the next one. */
  goOn(): void {
    this.between = true;
    this.shown = false;
    this.interrupted = false;
    this.refused = false;
    this.refusalShown = false;
    this.retrying = false;
    this.apiError = null;
    this.sentTexts = this.waiting.map((message) => message.text);
    this.recent.clear();
    this.retractedCalls.clear();
    const over = [...this.tools.keys()].filter((id) => !outlives(this, id));
    for (const id of over) this.tools.delete(id);
    for (const [twin, name] of this.#twins) if (!this.tools.has(name)) this.#twins.delete(twin);
    // Ids of finished messages are kept for late frames of background agents, not for ever.
    if (this.opened.size > 200) for (const id of [...this.opened.keys()].slice(0, this.opened.size - 100)) this.opened.delete(id);
  }
}

const isTwin = (name: string, id: string): boolean => name === id || name.startsWith(`${id}@`);

/** The call of this id that began last. */
export const toolKey = (state: ClaudeState, id: string): ItemKey => callKey("tool", state, id);
export const resultKey = (state: ClaudeState, id: string): ItemKey => callKey("result", state, id);
export const progressKey = (state: ClaudeState, id: string): ItemKey => callKey("progress", state, id);

function callKey(prefix: string, { calls }: ClaudeState, id: string): ItemKey {
  const count = calls.get(id)?.count ?? 1;
  return count === 1 ? `${prefix}:${id}` : `${prefix}:${id}:${count}`;
}
