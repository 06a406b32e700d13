// Terminals whose output belongs to a tool call: the client's own (terminal/*), those an agent only describes in _meta, and v2's.
import type { Draft } from "../../../schema/draft.ts";
import { int, type JsonRecord, rec, str } from "../../json.ts";
import { type Meaning, means, notes, unknown } from "./meaning.ts";
import type { Call, SessionState, Terminal } from "./session-state.ts";
import { kindOf, learnInput, openResult, outputDelta } from "./tools.ts";

/** Output beyond this is reported as it comes and no longer added up; what is kept of the result ends here. */
const KEPT_CHARACTERS = 8 * 1024 * 1024;

export function terminalOf(state: SessionState, id: string): Terminal {
  const known = state.terminals.get(id);
  if (known) return known;
  const terminal: Terminal = { id, command: null, output: "", exit: null, call: null, told: 0, decoder: null };
  state.terminals.set(id, terminal);
  return terminal;
}

/** Tool content `{type:"terminal"}` says whose output it is. Output that came before is reported now. */
export function linkTerminals(state: SessionState, call: Call): Draft[] {
  const ids = call.content.filter((each) => each.type === "terminal").flatMap((each) => str(each.terminalId) ?? []);
  return ids.flatMap((id) => link(state, call, terminalOf(state, id)));
}

function link(state: SessionState, call: Call, terminal: Terminal): Draft[] {
  terminal.call = call.id;
  if (!call.terminals.includes(terminal.id)) call.terminals.push(terminal.id);
  return [...(terminal.command === null ? [] : learnInput(call, terminal.command)), ...tellOutput(state, terminal)];
}

const META_OUTPUT = ["terminal_output_delta", "terminal_output"];

export const metaOutput = (meta: JsonRecord): string => META_OUTPUT.map((field) => str(rec(meta[field]).data) ?? "").join("");

/** codex-acp 2.6, claude 0.99 and zed with `_meta.terminal_output`: the data rides on tool_call_update. */
export function metaTerminal(state: SessionState, call: Call, meta: JsonRecord): Draft[] {
  const drafts: Draft[] = [];
  for (const field of META_OUTPUT) {
    const said = rec(meta[field]);
    const data = str(said.data);
    if (data === undefined) continue;
    const terminal = terminalOf(state, str(said.terminal_id) ?? call.id);
    drafts.push(...append(state, terminal, data), ...link(state, call, terminal));
  }
  const exit = rec(meta.terminal_exit);
  if (exit.exit_code !== undefined || exit.signal !== undefined) {
    const code = int(exit.exit_code) ?? null;
    terminalOf(state, str(exit.terminal_id) ?? call.id).exit = { code, signal: str(exit.signal) ?? null };
    if (code !== null) call.exitCode = code;
  }
  return drafts;
}

/** v2: terminal_update says all of it, terminal_output_chunk the next piece; bytes come as base64. */
export function onTerminalUpdate(state: SessionState, update: JsonRecord, chunk: boolean): Meaning {
  const id = str(update.terminalId);
  const data: unknown = chunk ? update.data : rec(update.output).data;
  if (id === undefined) return unknown("terminal without an id");
  if (typeof data !== "string" && (chunk || (data ?? null) !== null)) return unknown("output of a terminal that is no text");
  const terminal = terminalOf(state, id);
  const exit = rec(update.exitStatus);
  if (exit.exitCode !== undefined || exit.signal !== undefined)
    terminal.exit = { code: int(exit.exitCode) ?? null, signal: str(exit.signal) ?? null };
  const started = typeof update.command === "string" ? runs(state, terminal, update) : [];
  if (typeof data !== "string") return means(started);
  const text = decoded(terminal, Buffer.from(data, "base64"), chunk);
  const late = lateOutput(state, terminal, text, chunk);
  if (late !== null) return notes("late_tool_result", late, started);
  if (chunk) return means([...started, ...append(state, terminal, text)]);
  setOutput(terminal, text);
  return means([...started, ...tellOutput(state, terminal)]);
}

/** What is said of a terminal whose call has ended, and was not known then: the items of the call cannot change any more. */
function lateOutput(state: SessionState, terminal: Terminal, text: string, chunk: boolean): JsonRecord | null {
  const call = terminal.call === null ? undefined : state.calls.get(terminal.call);
  if (call?.state !== "ended") return null;
  const known = terminal.output;
  const output = chunk ? text : text.startsWith(known) ? text.slice(known.length) : text;
  if (output === "") return null;
  if (known.length < KEPT_CHARACTERS) terminal.output = chunk ? known + text : text;
  return { call_id: call.id, output };
}

/** What runs in a terminal is what its call runs, where that does not say it. */
function runs(state: SessionState, terminal: Terminal, { command, args, cwd }: JsonRecord): Draft[] {
  terminal.command = { command, ...(Array.isArray(args) ? { args } : {}), ...(typeof cwd === "string" ? { cwd } : {}) };
  const call = openCall(state, terminal);
  return call === undefined ? [] : learnInput(call, terminal.command);
}

/** All of the output begins anew. What is left of a character that it ends with comes with the next piece. */
function decoded(terminal: Terminal, bytes: Uint8Array, more: boolean): string {
  if (!more || terminal.decoder === null) terminal.decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  return terminal.decoder.decode(bytes, { stream: true });
}

/** The client's terminal: what terminal/output answered, or what the running process wrote. */
export function onClientOutput(state: SessionState, id: string, output: string, mode: "append" | "all"): Draft[] {
  const terminal = terminalOf(state, id);
  if (mode === "append") return append(state, terminal, output);
  // terminal/output may answer with the tail only, when the agent set a limit: what was reported is more.
  if (terminal.output.length >= KEPT_CHARACTERS || terminal.output.endsWith(output)) return [];
  setOutput(terminal, output);
  return tellOutput(state, terminal);
}

function append(state: SessionState, terminal: Terminal, text: string): Draft[] {
  if (terminal.output.length < KEPT_CHARACTERS) {
    terminal.output += text;
    return tellOutput(state, terminal);
  }
  const call = openCall(state, terminal);
  return call === undefined ? [] : [...openResult(call), outputDelta(call, text)];
}

export function onClientExit(state: SessionState, id: string, exit: JsonRecord): void {
  terminalOf(state, id).exit = { code: int(exit.exitCode) ?? null, signal: str(exit.signal) ?? null };
}

function setOutput(terminal: Terminal, text: string): void {
  if (!text.startsWith(terminal.output.slice(0, terminal.told))) terminal.told = Number.POSITIVE_INFINITY;
  terminal.output = text;
}

function openCall(state: SessionState, terminal: Terminal): Call | undefined {
  const call = terminal.call === null ? undefined : state.calls.get(terminal.call);
  return call?.state === "ended" ? undefined : call;
}

function tellOutput(state: SessionState, terminal: Terminal): Draft[] {
  const call = openCall(state, terminal);
  if (call === undefined || terminal.output.length <= terminal.told) return [];
  const delta = terminal.output.slice(terminal.told);
  terminal.told = terminal.output.length;
  return [...openResult(call), outputDelta(call, delta)];
}

/** The agent's terminal/create mostly belongs to the one command that waits; content names it later in any case. */
export function adoptTerminal(state: SessionState, id: string, asked: JsonRecord): Draft[] {
  const waiting = state.openCalls().filter((call) => call.terminals.length === 0 && kindOf(call) === "shell");
  const [only] = waiting;
  const terminal = terminalOf(state, id);
  if (typeof asked.command === "string") runs(state, terminal, asked);
  if (only === undefined || waiting.length !== 1) return [];
  return link(state, only, terminal);
}
