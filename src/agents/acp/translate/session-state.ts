// What the translator remembers of one native session: the open message, the calls, the turn, the settings last said.
// Only state and the smallest moves on it; what messages mean is decided in the files named after the concept.

import type { DraftPart } from "../../../schema/draft.ts";
import type { Usage } from "../../../schema/event-data.ts";
import type { SpeakerRole } from "../../../schema/item.ts";
import type { Repeat } from "../../contract.ts";
import type { JsonRecord } from "../../json.ts";
import type { DisguisedError, Quirks } from "./quirks.ts";
import type { Answer } from "./rpc.ts";

export type OpenMessage = {
  key: string;
  native: string | null;
  role: SpeakerRole;
  /** Everything said so far; the last part takes the next fragment of its kind. */
  parts: DraftPart[];
  child: string | null;
  /** How its next texts are added. Made once. */
  repeat?: Repeat;
};

export type Terminal = {
  id: string;
  /** What runs in it, where the agent had it made. */
  command: JsonRecord | null;
  output: string;
  exit: { code: number | null; signal: string | null } | null;
  /** toolCallId it belongs to, null until some content names it. */
  call: string | null;
  /** How many characters were reported as deltas. */
  told: number;
  /** Reads the bytes of pieces, of which one may end in the middle of a character. */
  decoder: TextDecoder | null;
};

export type Call = {
  id: string;
  key: string;
  resultKey: string;
  parent: string | null;
  name: string | undefined;
  kind: string | undefined;
  title: string;
  mcp: boolean;
  input: unknown;
  paths: string[];
  /** The content last said; it replaces, never adds. */
  content: JsonRecord[];
  /** True when that content was said while the tool ran or at its end: earlier text is a description, not output. */
  contentIsOutput: boolean;
  raw: unknown;
  /** What Claude Code itself knows of the result, beside what the model is told. */
  response: unknown;
  terminals: string[];
  exitCode: number | null | undefined;
  /** JSON of the `tool_call` that announced it; empty when something else did. */
  announced: string;
  /** Output that came after its end. */
  late: string;
  /** JSON of the part last reported. */
  told: string;
  resultOpen: boolean;
  streamed: string;
  state: "open" | "denied" | "ended";
  /** The end of its turn ended it: the agent never said how it came out. */
  cut: boolean;
  /** It goes on after its turn. */
  lasting: boolean;
  turn: number;
};

/** A plan that is shown: its item, the agent's id of it, and the JSON of what was reported. */
export type Plan = { key: string; native: string; told: string };

/** A sub-agent that has a session of its own, as a call of the session that started it. */
export type Subagent = { key: string; parent: string | null; done: boolean; title: string; state: SessionState };

/** `answer`: came before its turn began, while an earlier one still ran. */
export type PendingPrompt = { id: string; parts: DraftPart[]; text: string; answer?: Answer };

/** Drafts need no more than this of the process around a session. */
export type Surroundings = {
  quirks: Quirks;
  version: number;
  /** Names of the MCP servers that sessions were opened with. */
  mcpServers: ReadonlySet<string>;
};

export class SessionState {
  readonly id: string;
  /** Makes keys unique in the session for ever, also over several processes. */
  readonly space: string;
  turn: "none" | "client" | "agent" = "none";
  turns = 0;
  current: PendingPrompt | null = null;
  /** Prompts sent while another ran: their turn begins when that one ends. */
  queue: PendingPrompt[] = [];
  /** ACP v2 echoes the user's message; until then it is only known from what we sent. */
  awaitingEcho: PendingPrompt | null = null;
  message: OpenMessage | null = null;
  messages = 0;
  /** The message that new calls come from; null after results, until the model speaks again. */
  origin: string | null = null;
  /** A text that may be a fault in disguise. */
  held: { text: string; messageId: string | null; fault: DisguisedError["fault"] } | null = null;
  /** Whether the model or a tool has shown anything in this turn. */
  silent = true;
  blockBoundary = false;
  calls = new Map<string, Call>();
  callCount = 0;
  terminals = new Map<string, Terminal>();
  plans = new Map<string, Plan>();
  planItems = 0;
  subagents = new Map<string, Subagent>();
  /** Who wrote to whom, by the id of the message: its chunks do not say it. */
  letters = new Map<string, { from: string; to: string }>();
  /** The text of the last message of the model that ended, and those of this turn by the agent's ids. */
  lastText = "";
  ended = new Map<string, string>();
  replaying: "no" | "until_answer" | "until_prompt" = "no";
  replayed = new Set<string>();
  compactions = new Map<string, { done: boolean; summary: string }>();
  /** Context and cost as they were last said, without tokens. */
  context: Usage = { input_tokens: 0, output_tokens: 0 };
  turnUsage: Usage | null = null;
  faultSeen: string | null = null;
  retrying = false;
  cancelSent = false;
  /** A turn of the agent's own that was announced while a prompt's turn was still open. */
  agentTurnAhead: string | null = null;
  said = new Map<string, string>();

  constructor(id: string, space: string) {
    this.id = id;
    this.space = space;
  }

  key(name: string): string {
    return `${this.space}${name}`;
  }

  openCalls(): Call[] {
    return [...this.calls.values()].filter((call) => call.state !== "ended");
  }

  /** True when this fact is new; repetitions of settings are common (claude 0.99 sends its commands twice a turn). */
  isNews(topic: string, value: unknown): boolean {
    const text = JSON.stringify(value) ?? "";
    if (this.said.get(topic) === text) return false;
    this.said.set(topic, text);
    return true;
  }
}
