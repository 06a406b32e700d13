// Turns what `amp --execute --stream-json` writes into drafts: four message types, whole messages, no ids. Pure; one translator serves the processes of one
// session one after another (a run is a process, a conversation goes on through `amp threads continue`).
import type { Draft, ItemKey } from "../../../schema/draft.ts";
import type { ErrorData, StopReason } from "../../../schema/event-data.ts";
import type { NativeMessage, Translation, Translator } from "../../contract.ts";
import { arr, isRecord, type JsonRecord, rec, records, str } from "../../json.ts";
import { mapped, noted, unparsed } from "../../translation.ts";
import { Conversation, deniedBy, type Reading } from "./conversation.ts";
import { readResultError } from "./errors.ts";
import { APPROVAL_ADVICE } from "./permission-rules.ts";
import { LOGIN_ADVICE, readPlainLine, withoutEscapes } from "./plain-text.ts";
import { SILENCE } from "./silence.ts";

/** The one address of this agent: a process serves one session, whose native id is known only after the first message was sent. */
export const AMP_ADDRESS = "amp";

const STDERR_KEPT = 20;

/** What one process has said so far. */
type Run = { json: boolean; result: boolean; login: boolean; text: string[]; stderr: string[] };
const newRun = (): Run => ({ json: false, result: false, login: false, text: [], stderr: [] });

export class AmpTranslator implements Translator {
  readonly manyProcesses = true;
  readonly silence = SILENCE;
  readonly #talk = new Conversation();
  #run = newRun();
  #turnOpen = false;
  /** Why the model stopped, when that will be the turn's end. */
  #stopped: StopReason | null = null;
  #config = "";
  /** Usage in the result that is being read. */
  #told: unknown = null;
  #model = "";

  translate({ dir, data }: NativeMessage): Translation[] {
    switch (dir) {
      case "in":
        return [this.#input(data)];
      case "out":
        return [this.#output(data)];
      case "err":
        return [this.#stderr(data)];
      case "exit":
        return [this.#exit(rec(data))];
      case "http":
      case "sse":
        return [unparsed(AMP_ADDRESS, dir, "Amp speaks over stdio only")];
      default:
        dir satisfies never;
        return [unparsed(AMP_ADDRESS, "unknown", "unknown direction")];
    }
  }

  #input(data: unknown): Translation {
    if (typeof data === "string") {
      this.#talk.sent(data);
      return mapped(AMP_ADDRESS, "stdin/text", this.#startTurn());
    }
    const message = rec(data);
    if (message.type !== "user") return noted(AMP_ADDRESS, "stdin/other", "input_not_understood_by_amp", data);
    this.#talk.sent(message);
    return mapped(AMP_ADDRESS, "stdin/user", this.#startTurn());
  }

  #output(data: unknown): Translation {
    if (typeof data === "string") return this.#plainLine(data);
    if (!isRecord(data)) return unparsed(AMP_ADDRESS, "stdout/other", "a line that is no JSON object");
    this.#run.json = true;
    switch (data.type) {
      case "system":
        if (data.subtype === "init") return this.#init(data);
        return unparsed(AMP_ADDRESS, "system/other", `unknown system message ${str(data.subtype) ?? ""}`);
      case "user":
        return this.#user(data);
      case "assistant":
        return this.#assistant(data);
      case "result":
        return this.#result(data);
      default:
        return unparsed(AMP_ADDRESS, "stdout/other", `unknown message type ${str(data.type) ?? ""}`);
    }
  }

  #init(data: JsonRecord): Translation {
    const drafts: Draft[] = [];
    const id = str(data.session_id);
    if (id !== undefined) drafts.push({ do: "native_session", id });
    const config = {
      ...(str(data.agent_mode) === undefined ? {} : { agent_mode: str(data.agent_mode) ?? null }),
      ...(str(data.reasoning_effort) === undefined ? {} : { variant: str(data.reasoning_effort) ?? null }),
      tools: arr(data.tools).flatMap((tool) => str(tool) ?? str(rec(tool).name) ?? []),
      mcp_servers: records(data.mcp_servers).map(({ name, status }) => ({
        name: str(name) ?? "",
        status: str(status) ?? "unknown",
      })),
    };
    const cwd = str(data.cwd);
    // Every run begins with an init: only what changed is news.
    const config_text = JSON.stringify([config, cwd]);
    if (config_text !== this.#config) {
      drafts.push({ do: "event", type: "config.changed", data: config });
      if (cwd !== undefined) drafts.push({ do: "event", type: "session.updated", data: { metadata: { cwd } } });
    }
    this.#config = config_text;
    // A run is the answer to a prompt, even when it fails before the prompt is echoed.
    drafts.push(...this.#startTurn());
    if (this.#run.text.length === 0) return mapped(AMP_ADDRESS, "system/init", drafts);
    const detail = { text: this.#run.text.splice(0).join("\n") };
    return noted(AMP_ADDRESS, "system/init", "text_on_stdout", detail, drafts);
  }

  #user(data: JsonRecord): Translation {
    const message = rec(data.message);
    const parent = this.#parent(data);
    const results = records(message.content).some((block) => block.type === "tool_result");
    const begin = results || parent !== null ? [] : this.#startTurn();
    return understood(results ? "user/tool_result" : "user/text", this.#talk.user(message, parent), begin);
  }

  #assistant(data: JsonRecord): Translation {
    const message = rec(data.message);
    const parent = this.#parent(data);
    const begin = parent === null ? this.#startTurn() : [];
    const reading = this.#talk.assistant(message, parent);
    if (parent === null) reading.drafts.push(...this.#named(str(message.model)), ...this.#stop(message.stop_reason));
    if (!STOPS.has(message.stop_reason)) reading.unknown.push(`stop reason ${String(message.stop_reason)}`);
    const seen = understood("assistant", reading, begin);
    if (message.stop_reason !== null || seen.disposition === "unparsed") return seen;
    // jan, may: after this comes silence; the watchdog of the connection says so when it lasts.
    return noted(AMP_ADDRESS, seen.type, "answer_incomplete", { stop_reason: null }, seen.drafts);
  }

  /** The types of the SDK have a model; the builds of today say none. */
  #named(model: string | undefined): Draft[] {
    if (model === undefined || model === this.#model) return [];
    this.#model = model;
    return [{ do: "event", type: "config.changed", data: { model } }];
  }

  /** With `--stream-json-input` no result follows a turn: the model's `end_turn` is its only sign. */
  #stop(reason: unknown): Draft[] {
    switch (reason) {
      case "end_turn":
      case "stop_sequence":
        return this.#endTurn("end_turn");
      case "max_tokens":
        this.#stopped = "output_length";
        return [];
      case "refusal":
        this.#stopped = "refusal";
        return [];
      default:
        return [];
    }
  }

  #result(data: JsonRecord): Translation {
    this.#run.result = true;
    this.#told = data.usage;
    const subtype = str(data.subtype) ?? "";
    const type = RESULTS.has(subtype) ? `result/${subtype}` : "result/other";
    const drafts = [...this.#talk.unechoed()];
    if (data.is_error !== true && !subtype.startsWith("error")) drafts.push(...this.#success(str(data.result) ?? ""));
    else if (subtype === "error_max_turns") drafts.push(...this.#fail(limit(str(data.error)), "max_turns"));
    else drafts.push(...this.#failure(str(data.error) ?? str(data.result) ?? ""));
    this.#told = null;
    if (!RESULTS.has(subtype)) return unparsed(AMP_ADDRESS, type, `result of subtype ${subtype || "none"}`, drafts);
    const denials = arr(data.permission_denials);
    if (denials.length > 0) return noted(AMP_ADDRESS, type, "permission_denials", denials, drafts);
    return mapped(AMP_ADDRESS, type, drafts);
  }

  /** `result` repeats the last answer; only an answer that was never shown is news. */
  #success(text: string): Draft[] {
    if (!this.#turnOpen) return [];
    const lost: Draft[] = this.#talk.answered || text === "" ? [] : [this.#said(text)];
    return [...lost, ...this.#endTurn(this.#stopped ?? "end_turn")];
  }

  #failure(text: string): Draft[] {
    const failure = readResultError(text);
    switch (failure.kind) {
      case "cancelled":
        return this.#endTurn(this.#stopped ?? "interrupted");
      case "approval": {
        const open = this.#talk.openCalls();
        const held = open.filter(({ name }) => failure.tools.length === 0 || failure.tools.includes(name));
        const message = `${text}. ${APPROVAL_ADVICE}`;
        const error: ErrorData = {
          message,
          code: "execution_error",
          details: { error_source: "agent", native_code: "approval_required", retryable: false },
        };
        return [...held.flatMap((call) => deniedBy("agent", call, APPROVAL_ADVICE)), ...this.#fail(error)];
      }
      case "fault":
        return this.#fail(failure.error);
      default:
        return failure satisfies never;
    }
  }

  #fail(error: ErrorData, reason: StopReason = "error"): Draft[] {
    return [{ do: "error", error }, ...this.#endTurn(reason, error)];
  }

  #plainLine(line: string): Translation {
    const text = withoutEscapes(line);
    const plain = readPlainLine(text.trim());
    if (plain.kind === "login") {
      this.#run.login = true;
      return mapped(AMP_ADDRESS, "stdout/login", plain.drafts);
    }
    if (this.#run.json) return unparsed(AMP_ADDRESS, "stdout/text", "a line that is not JSON");
    // Before any JSON it may be a notice, or the answer of a run that was not asked for JSON: the next JSON line or the exit decides.
    this.#run.text.push(text);
    return mapped(AMP_ADDRESS, "stdout/text");
  }

  #stderr(data: unknown): Translation {
    const text = withoutEscapes(str(data) ?? "").trim();
    if (text !== "" && !text.startsWith("(recorder:")) {
      this.#run.stderr.push(text);
      if (this.#run.stderr.length > STDERR_KEPT) this.#run.stderr.shift();
    }
    return mapped(AMP_ADDRESS, "stderr");
  }

  /** The exit code says nothing about success; only a run without a result is judged by its exit. */
  #exit({ code, signal }: JsonRecord): Translation {
    const run = this.#run;
    this.#run = newRun();
    const drafts = [...this.#talk.unechoed()];
    if (run.result) return mapped(AMP_ADDRESS, "exit", [...drafts, ...this.#endTurn("interrupted")]);
    if (run.login) drafts.push(...this.#endLogin());
    else if (signal === "SIGINT" || signal === "SIGTERM") drafts.push(...this.#endTurn(this.#stopped ?? "interrupted"));
    else if (code === 0 && !run.json && run.text.length > 0)
      drafts.push(...this.#startTurn(), this.#said(run.text.join("\n")), ...this.#endTurn("end_turn"));
    else if (this.#turnOpen || !run.json) drafts.push(...this.#fail(exitError(run, code, signal)));
    return mapped(AMP_ADDRESS, "exit", drafts);
  }

  #endLogin(): Draft[] {
    if (!this.#turnOpen) return [];
    const details = { error_source: "agent", native_code: "login_required", retryable: false } as const;
    return this.#fail({ message: LOGIN_ADVICE, code: "provider_auth", details });
  }

  #said(text: string): Draft {
    return {
      do: "item.add",
      item: { key: this.#talk.key("message"), kind: "message", role: "assistant", content: [{ type: "text", text }] },
    };
  }

  #startTurn(): Draft[] {
    if (!this.#turnOpen) {
      this.#talk.beginTurn();
      this.#stopped = null;
    }
    this.#turnOpen = true;
    return [{ do: "turn.start", initiator: "client" }];
  }

  #endTurn(stop_reason: StopReason, error?: ErrorData): Draft[] {
    if (!this.#turnOpen) return [];
    this.#turnOpen = false;
    const usage = this.#talk.endTurn(this.#told);
    const failed = stop_reason === "error" && error ? { error_code: error.code } : {};
    return [{ do: "turn.end", stop_reason, ...failed, ...(usage === null ? {} : { usage }) }];
  }

  /** Always null today: no build shows what a sub-agent does. The field is in the format, so it is honoured. */
  #parent(data: JsonRecord): ItemKey | null {
    const id = str(data.parent_tool_use_id);
    if (id === undefined) return null;
    return this.#talk.openCalls().find(({ call_id }) => call_id === id)?.key ?? `call:${id}`;
  }
}

const STOPS: ReadonlySet<unknown> = new Set([undefined, null, "end_turn", "stop_sequence", "tool_use", "max_tokens", "refusal"]);
const RESULTS = new Set(["success", "error_during_execution", "error_max_turns"]);

function understood(type: string, { drafts, unknown }: Reading, begin: Draft[]): Translation {
  const all = [...begin, ...drafts];
  return unknown.length === 0 ? mapped(AMP_ADDRESS, type, all) : unparsed(AMP_ADDRESS, type, unknown.join(", "), all);
}

const limit = (text: string | undefined): ErrorData => ({
  message: text ?? "Amp reached its limit of turns.",
  code: "max_turns",
  details: { error_source: "agent", native_code: "error_max_turns", retryable: false },
});

function exitError(run: Run, code: unknown, signal: unknown): ErrorData {
  const how =
    typeof signal === "string" ? `was ended by ${signal}` : `exited with code ${typeof code === "number" ? code : "unknown"}`;
  const said = [...run.text, ...run.stderr].join("\n");
  return {
    message: said === "" ? `Amp ${how} without a result.` : `Amp ${how} without a result: ${said}`,
    code: "execution_error",
    details: {
      error_source: "agent",
      native_code: typeof signal === "string" ? signal : typeof code === "number" ? code : null,
      retryable: false,
    },
  };
}
