/** What events say about a session as a whole: its agent, model and modes, title, status, usage, end. The object is replaced when a fact changes. */
import type { PermissionMode, Usage } from "../event-data.ts";
import type { ConfigFacts, SessionFacts } from "../snapshot.ts";
import type { ProjectedEvent, ProjectedEventOf } from "./event.ts";

const MODES: ReadonlySet<unknown> = new Set<PermissionMode>(["default", "plan", "accept_edits", "bypass"]);
const isMode = (mode: unknown): mode is PermissionMode => MODES.has(mode);

/** Before the first event. */
export const NO_FACTS: SessionFacts = {
  agent: null,
  agent_version: null,
  directory: null,
  native_session_id: null,
  title: null,
  model: null,
  variant: null,
  agent_mode: null,
  permission_mode: "default",
  status: "idle",
  usage: null,
  usage_told: false,
  config: {},
  last_error: null,
  ended: null,
};

/** The same object when the event changes no fact. */
export function factsAfter(facts: SessionFacts, event: ProjectedEvent): SessionFacts {
  const before = facts.native_session_id === event.native_session_id ? facts : withNative(facts, event.native_session_id);
  switch (event.type) {
    case "session.started":
      return started(before, event.data.metadata);
    case "session.ended":
      return { ...before, ended: event.data };
    case "session.status":
      return before.status === event.data.status ? before : { ...before, status: event.data.status };
    case "session.updated":
      return event.data.title === undefined ? before : { ...before, title: event.data.title };
    // Until somebody names it, a session is called by the first thing it was asked.
    case "message.queued":
      return before.title === null ? entitled(before, event.data.text) : before;
    case "config.changed":
      return configured(before, event);
    case "usage.updated": {
      const { scope, ...usage } = event.data;
      return scope === "session" ? withUsage(before, usage) : before;
    }
    case "error": {
      const { code, message } = event.data;
      return { ...before, last_error: { code, message: message.slice(0, LONGEST_ERROR), time: event.time } };
    }
    case "turn.started":
      return withoutError(before);
    case "turn.ended": {
      const { usage, stop_reason } = event.data;
      // An attempt may fail, and the turn succeed.
      const after = stop_reason === "end_turn" || stop_reason === "interrupted" ? withoutError(before) : before;
      return usage && !after.usage_told ? { ...after, usage: addUsage(after.usage, usage) } : after;
    }
    default:
      return before;
  }
}

const LONGEST_TITLE = 80;
const LONGEST_ERROR = 500;

const withoutError = (facts: SessionFacts): SessionFacts => (facts.last_error ? { ...facts, last_error: null } : facts);

/** The first line that says something, cut at a word. */
function entitled(facts: SessionFacts, text: string): SessionFacts {
  const line = text
    .slice(0, 2_000)
    .split("\n")
    .map((each) => each.replace(/\s+/g, " ").trim())
    .find((each) => each !== "");
  if (line === undefined) return facts;
  if (line.length <= LONGEST_TITLE) return { ...facts, title: line };
  const cut = line.slice(0, LONGEST_TITLE);
  return { ...facts, title: `${cut.slice(0, Math.max(cut.lastIndexOf(" "), LONGEST_TITLE / 2)).trimEnd()}…` };
}

const withNative = (facts: SessionFacts, native_session_id: string | null): SessionFacts => ({ ...facts, native_session_id });

function started(facts: SessionFacts, metadata: Record<string, unknown>): SessionFacts {
  const text = (name: string): string | null => (typeof metadata[name] === "string" ? metadata[name] : null);
  return {
    ...facts,
    agent: text("agent"),
    agent_version: text("agent_version"),
    directory: text("directory"),
    title: text("title"),
    model: text("model"),
    variant: text("variant"),
    agent_mode: text("agent_mode"),
    permission_mode: isMode(metadata.permission_mode) ? metadata.permission_mode : "default",
  };
}

function configured(facts: SessionFacts, { data }: ProjectedEventOf<"config.changed">): SessionFacts {
  const { actor: _, ...change } = data;
  const config: ConfigFacts = { ...facts.config, ...change };
  return {
    ...facts,
    config,
    model: change.model === undefined ? facts.model : change.model,
    variant: change.variant === undefined ? facts.variant : change.variant,
    agent_mode: change.agent_mode === undefined ? facts.agent_mode : change.agent_mode,
    permission_mode: isMode(change.permission_mode) ? change.permission_mode : facts.permission_mode,
  };
}

const ADDED = [
  "input_tokens",
  "output_tokens",
  "reasoning_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "cost_usd",
] as const;

/** A report of the session without a token is about its context and cost alone: the tokens of its turns still add up. */
function withUsage(facts: SessionFacts, said: Usage): SessionFacts {
  if (said.input_tokens + said.output_tokens > 0) return { ...facts, usage: { ...facts.usage, ...said }, usage_told: true };
  const { input_tokens, output_tokens, ...beside } = said;
  return { ...facts, usage: { input_tokens, output_tokens, ...facts.usage, ...beside } };
}

function addUsage(sum: Usage | null, turn: Usage): Usage {
  const total: Usage = { ...sum, ...turn };
  for (const name of ADDED) {
    const value = (turn[name] ?? 0) + (sum?.[name] ?? 0);
    if (turn[name] !== undefined || sum?.[name] !== undefined) total[name] = value;
  }
  return total;
}
