/**
 * Takes a call of the model to its end: arguments, permission, effect, outcome. Each stage is in the journal, so that a call that a crash cut off goes on where it
 * was, and no effect happens twice.
 */
import type { JsonObject } from "../openresponses/json.ts";
import { inputDigest, sha256 } from "./digest.ts";
import { changeState, makeChanges } from "./file-changes.ts";
import { withFiles } from "./file-queue.ts";
import type { FrameListener } from "./frames.ts";
import type { ModelCall } from "./input-items.ts";
import type { Ledger } from "./ledger.ts";
import { type CallPerformer, checkedArguments, type Finished, finished, INTERRUPTED } from "./perform.ts";
import type { PermissionSubject } from "./permission-subject.ts";
import type { BlobStore, PermissionAsker } from "./ports.ts";
import type { Effect } from "./records.ts";
import type { PermissionMode } from "./settings.ts";
import type { CallState } from "./state.ts";
import type { ReadArguments, ToolRegistry } from "./tools/registry.ts";
import { type AnyTool, ToolError } from "./tools/tool.ts";

/** What the rules say about a call. */
export interface Decision {
  readonly decision: "allow" | "ask" | "deny";
  /** A sentence: why. */
  readonly reason: string;
}

/** Decides without asking anybody. */
export interface PermissionPolicy {
  /** `allowed`: what skills in use let pass, in the words of their `allowed-tools`. */
  decide(subject: PermissionSubject, mode: PermissionMode, call: string, allowed?: readonly string[]): Decision;
}

export interface CallRunnerPorts {
  readonly ledger: Ledger;
  readonly registry: ToolRegistry;
  readonly policy: PermissionPolicy;
  readonly asker: PermissionAsker;
  readonly performer: CallPerformer;
  readonly blobs: BlobStore;
  readonly directory: string;
  readonly onFrame: FrameListener;
}

type ReadCall =
  | (ReadArguments & { readonly ok: false })
  | (ReadArguments & { readonly ok: true; readonly subject: PermissionSubject });

export class CallRunner {
  readonly #ports: CallRunnerPorts;
  /** One question at a time: a person cannot answer two. */
  #asking: Promise<unknown> = Promise.resolve();

  constructor(ports: CallRunnerPorts) {
    this.#ports = ports;
  }

  /** What a call may do. A call of a tool that does not exist does nothing. */
  effectOf(call: ModelCall): Effect {
    return this.#ports.registry.get(call.name)?.effect ?? "none";
  }

  /** Runs a call before its answer is complete, if that may be: it changes nothing and nobody has to be asked. Null when it has to wait. */
  runEarly(call: ModelCall, signal: AbortSignal): Promise<void> | null {
    const read = this.#read(call);
    if (!read.ok || read.tool.effect !== "none") return null;
    return this.#decide(read.subject, call.key).decision === "allow" ? this.run(call, signal, read) : null;
  }

  /** Resolves when the outcome is in the journal. It does not throw for what a tool does. */
  async run(call: ModelCall, signal: AbortSignal, early?: ReadCall): Promise<void> {
    const { ledger } = this.#ports;
    const known = ledger.state.calls.get(call.key);
    if (known?.status === "finished") return;
    if (known?.status === "started" && known.effect !== "none") return this.#recover(call, known, signal);
    const read = early ?? this.#read(call);
    const args_digest = sha256(call.input);
    if (known === undefined) {
      ledger.append({ type: "call.accepted", call: call.key, call_id: call.call_id, name: call.name, args_digest });
    }
    const started = ledger.now;
    if (!read.ok) return this.#finish(call, started, finished(read.message, { is_error: true, note: "bad_arguments" }));
    if (signal.aborted) return this.#finish(call, started, interrupted());
    const { tool, args, subject } = read;
    const refusal = await this.#approve(call, tool, args, subject, signal);
    if (refusal !== null) return this.#finish(call, started, refusal);
    this.#finish(call, started, await this.#ports.performer.perform(call, tool, args, subject, signal));
  }

  /** The arguments, and what a rule decides about; a sentence for the model where they are wrong, also for a path that can be none. */
  #read(call: ModelCall): ReadCall {
    const read = this.#ports.registry.read(call);
    if (!read.ok) return read;
    try {
      return { ...read, subject: read.tool.subject(checkedArguments(read.args), { directory: this.#ports.directory }) };
    } catch (error) {
      if (error instanceof ToolError) return { ok: false, message: error.message };
      throw error;
    }
  }

  #decide(subject: PermissionSubject, call: string): Decision {
    const { settings, turn } = this.#ports.ledger.state;
    return this.#ports.policy.decide(subject, settings.mode, call, turn?.allowed);
  }

  /** Null when it may run. */
  async #approve(
    call: ModelCall,
    tool: AnyTool,
    args: JsonObject,
    subject: PermissionSubject,
    signal: AbortSignal,
  ): Promise<Finished | null> {
    const { ledger } = this.#ports;
    const input_digest = inputDigest(tool.name, args);
    // Approved before a crash: it holds for exactly this input.
    if (ledger.state.calls.get(call.key)?.approved === input_digest) return null;
    const { decision, reason } = this.#decide(subject, call.key);
    if (decision === "deny") return denied(`Not allowed: ${reason}`);
    if (decision === "allow") {
      ledger.append({ type: "call.approved", call: call.key, input_digest, by: "policy" });
      return null;
    }
    const request = { call: call.key, call_id: call.call_id, tool: tool.name, subject, args, input_digest, reason };
    const asked = this.#asking.then(() => (signal.aborted ? null : this.#ports.asker.ask(request, signal)));
    this.#asking = asked.catch(() => {});
    const answer = await asked.catch((error: unknown) => {
      if (signal.aborted) return null;
      throw error;
    });
    if (answer === null || signal.aborted) return interrupted();
    if (answer.decision === "deny") return denied(answer.message ?? "The user does not allow this.");
    if (answer.input_digest !== input_digest) return denied("The approval was given for another input. Ask again.");
    ledger.append({ type: "call.approved", call: call.key, input_digest, by: "person" });
    return null;
  }

  /** The journal says that it was started, and not how it ended. */
  async #recover(call: ModelCall, known: CallState, signal: AbortSignal): Promise<void> {
    const { ledger, blobs } = this.#ports;
    const started = ledger.now;
    if (known.effect !== "file") {
      const read = this.#ports.registry.read(call);
      const found = read.ok ? await this.#ports.performer.recover(call, read.tool, read.args, signal) : null;
      if (found !== null) return this.#finish(call, started, found);
      const sofar = known.output === "" ? "It had printed nothing." : `Output so far:\n${known.output}`;
      const text = `The daemon was restarted while this ran. It may have been done in part and is not run again. ${sofar}`;
      return this.#finish(call, started, finished(text, { is_error: true, note: "state_unknown" }));
    }
    const paths = known.changes.map((change) => change.path);
    const outcome = await withFiles(paths, async () => {
      const state = await changeState(known.changes);
      if (state === "unknown") return null;
      if (state !== "done") await makeChanges(known.changes, blobs);
      return finished(known.result ?? "Done.", { note: "recovered" });
    }).catch((error: unknown) => finished(error instanceof Error ? error.message : String(error), { is_error: true }));
    const lost = `The daemon was restarted while this ran, and the files are neither as before nor as after: ${paths.join(", ")}. Read them.`;
    this.#finish(call, started, outcome ?? finished(lost, { is_error: true, note: "state_unknown" }));
  }

  #finish(call: ModelCall, started: number, outcome: Finished): void {
    const { ledger, onFrame } = this.#ports;
    const duration_ms = Math.max(0, ledger.now - started);
    ledger.append({ type: "call.finished", call: call.key, duration_ms, ...outcome });
    const begun = ledger.state.calls.get(call.key)?.effect !== null;
    if (!begun || (outcome.is_error && outcome.exit_code === null)) {
      const error = typeof outcome.output === "string" ? outcome.output : "The tool failed.";
      onFrame({ type: "tool_failed", tool_id: call.key, error });
      return;
    }
    const artifacts = outcome.artifacts.length === 0 ? null : { output: outcome.artifacts };
    onFrame({ type: "tool_ended", tool_id: call.key, exit_code: outcome.exit_code ?? 0, duration_ms, artifacts });
  }
}

const interrupted = (): Finished => finished(INTERRUPTED, { is_error: true, note: "interrupted" });
const denied = (message: string): Finished => finished(message, { is_error: true, note: "denied" });
