/**
 * Does what a call asks for, after it was approved, and writes the journal around it: "started" is durable before anything has an effect. The outcome is
 * returned, not recorded.
 */
import type { JsonObject } from "../openresponses/json.ts";
import { makeChanges } from "./file-changes.ts";
import { withFiles } from "./file-queue.ts";
import type { FrameListener } from "./frames.ts";
import type { ModelCall } from "./input-items.ts";
import type { Ledger } from "./ledger.ts";
import type { PermissionSubject } from "./permission-subject.ts";
import type { BlobStore, TaskStarter } from "./ports.ts";
import type { RecordOf } from "./records.ts";
import { realPath } from "./tools/paths.ts";
import { type AnyTool, type FileTool, type ToolContext, ToolError, type ToolResult } from "./tools/tool.ts";

/** The end of a call, before it is recorded. */
export type Finished = Omit<RecordOf<"call.finished">, "type" | "time" | "call" | "duration_ms">;

export interface PerformPorts {
  readonly ledger: Ledger;
  readonly blobs: BlobStore;
  readonly tasks: TaskStarter;
  readonly directory: string;
  readonly onFrame: FrameListener;
}

/** Carries out one approved call. A replay has another implementation. */
export interface CallPerformer {
  /** `subject`: what was allowed. */
  perform(call: ModelCall, tool: AnyTool, args: JsonObject, subject: PermissionSubject, signal: AbortSignal): Promise<Finished>;
  recover(call: ModelCall, tool: AnyTool, args: JsonObject, signal: AbortSignal): Promise<Finished | null>;
}

export const finished = (output: string | readonly JsonObject[], more: Partial<Finished> = {}): Finished => ({
  output: typeof output === "string" ? output : [...output],
  is_error: false,
  note: null,
  exit_code: null,
  artifacts: [],
  ...more,
});

/** Longer than the grace a command gets between TERM and KILL. */
const ABANDON_MS = 4_000;

export const INTERRUPTED = "Interrupted by the user.";

export class ToolPerformer implements CallPerformer {
  readonly #ports: PerformPorts;

  constructor(ports: PerformPorts) {
    this.#ports = ports;
  }

  async perform(
    call: ModelCall,
    tool: AnyTool,
    args: JsonObject,
    subject: PermissionSubject,
    signal: AbortSignal,
  ): Promise<Finished> {
    const life = { open: true };
    const paths = pathsOf(subject);
    const context = this.#context(call, signal, life, paths);
    try {
      if (tool.effect === "file") return await this.#change(call, tool, args, paths ?? [], context);
      await this.#start(call, tool, args);
      return this.#result(call, await unlessAbandoned(tool.run(checked(args), context), signal), signal);
    } catch (error) {
      if (signal.aborted) return finished(INTERRUPTED, { is_error: true, note: "interrupted" });
      if (error instanceof ToolError) return finished(error.message, { is_error: true });
      const why = error instanceof Error ? error.message : String(error);
      return finished(`${tool.name} failed: ${why}`, { is_error: true });
    } finally {
      life.open = false;
    }
  }

  /** Goes on with a call that was started before a crash, where its tool can know what became of it. Null: nobody knows. */
  async recover(call: ModelCall, tool: AnyTool, args: JsonObject, signal: AbortSignal): Promise<Finished | null> {
    if (tool.effect !== "unknown" || tool.recover === undefined) return null;
    const life = { open: true };
    try {
      const result = await unlessAbandoned(tool.recover(checked(args), this.#context(call, signal, life, null)), signal);
      return result === null ? null : this.#result(call, result, signal);
    } catch (error) {
      if (signal.aborted) return finished(INTERRUPTED, { is_error: true, note: "interrupted" });
      return finished(error instanceof Error ? error.message : String(error), { is_error: true });
    } finally {
      life.open = false;
    }
  }

  #result(call: ModelCall, result: ToolResult, signal: AbortSignal): Finished {
    for (const file of result.files ?? []) this.#ports.ledger.append({ type: "call.file", call: call.key, ...file });
    return fromResult(result, signal);
  }

  async #start(call: ModelCall, tool: AnyTool, args: JsonObject): Promise<void> {
    const { ledger } = this.#ports;
    const timeout_ms = tool.timeoutMs?.(checked(args)) ?? null;
    ledger.append({ type: "call.started", call: call.key, effect: tool.effect, changes: [], result: null, timeout_ms });
    if (tool.effect !== "none") await ledger.durable();
    this.#announce(call, tool, args, timeout_ms);
  }

  #announce(call: ModelCall, tool: AnyTool, args: JsonObject, timeout_ms: number | null): void {
    this.#ports.onFrame({ type: "tool_started", tool_id: call.key, name: tool.name, args, timeout_ms });
  }

  async #change(
    call: ModelCall,
    tool: FileTool<never>,
    args: JsonObject,
    paths: readonly string[],
    context: ToolContext,
  ): Promise<Finished> {
    const { ledger, blobs } = this.#ports;
    return withFiles(paths, async () => {
      const { changes, result } = await tool.prepare(checked(args), context);
      ledger.append({ type: "call.started", call: call.key, effect: "file", changes: [...changes], result, timeout_ms: null });
      await ledger.durable();
      this.#announce(call, tool, args, null);
      await makeChanges(changes, blobs);
      return finished(result);
    });
  }

  /** `allowed`: the real paths that were allowed; null when none was named. */
  #context(
    call: ModelCall,
    signal: AbortSignal,
    life: { readonly open: boolean },
    allowed: readonly string[] | null,
  ): ToolContext {
    const { ledger, blobs, tasks, directory, onFrame } = this.#ports;
    return {
      call: call.key,
      directory,
      at: (path) => {
        const real = realPath(directory, path);
        if (allowed === null || allowed.includes(real)) return real;
        throw new ToolError(`${path} leads elsewhere than when this was allowed. Look at it, then try again.`);
      },
      signal,
      blobs,
      tasks,
      now: () => ledger.now,
      onOutput: (stream, chunk) => {
        // What a command prints after its call has ended belongs to its task.
        if (!life.open) return;
        ledger.append({ type: "call.output", call: call.key, stream, chunk });
        onFrame({ type: stream === "stdout" ? "tool_stdout" : "tool_stderr", tool_id: call.key, chunk });
      },
      updatePlan: (entries) => void ledger.append({ type: "plan.updated", entries: [...entries] }),
      takeSkill: (skill) => void ledger.append({ type: "skill.used", ...skill }),
      addChild: (session_id, usage) => void ledger.append({ type: "child.ended", call: call.key, session_id, usage }),
    };
  }
}

function pathsOf(subject: PermissionSubject): readonly string[] | null {
  if (subject.kind === "bash") return [subject.cwd];
  return subject.kind === "read" || subject.kind === "edit" ? subject.paths : null;
}

/** A tool that does not listen to an interrupt must not hold the turn. */
function unlessAbandoned<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const onAbort = (): void => {
      timer = setTimeout(() => reject(new ToolError(INTERRUPTED)), ABANDON_MS);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    });
  });
}

function fromResult(result: ToolResult, signal: AbortSignal): Finished {
  return finished(result.output, {
    is_error: result.isError ?? false,
    exit_code: result.exitCode ?? null,
    artifacts: [...(result.artifacts ?? [])],
    note: signal.aborted ? "interrupted" : null,
  });
}

/** Arguments that were checked against the tool's own schema. The only place where their type is taken on trust. */
const checked = (args: JsonObject): never => args as never;

export { checked as checkedArguments };
