// The client's side of ACP: answers what an agent asks of us. Files and terminals at once, permissions and questions when a person has
// decided, everything unknown with -32601 at once: a turn must never wait for an answer that does not come.

import type { PermissionOption, PlainReply } from "../../../schema/event-data.ts";
import { JSON_RPC_REQUEST_CANCELLED, JsonRpcError, LATER, type Respond } from "../../../transports/index.ts";
import type { AgentTerminals, PermissionReply } from "../../contract.ts";
import { isInside } from "../../inside-directory.ts";
import { type JsonRecord, str } from "../../json.ts";
import { optionFor } from "../../kit/choices.ts";
import { formResult } from "../../kit/forms.ts";
import { isElicitation } from "../translate/elicitation.ts";
import { isPermission, isPermissionQuestions, isPlan, type NativePlan, readOptions } from "../translate/permissions.ts";
import { idKey, type RpcId } from "../translate/rpc.ts";
import type { ClientFiles } from "./client-files.ts";

const INVALID_PARAMS = -32602;

/** What may be allowed without asking, for agents that have no such mode of their own. */
export type Policy = "ask" | "edits" | "all";

/** `elicitation`: the name by which the agent says that nothing more is needed. */
type Waiting = { kind: "permission" | "elicitation"; respond: Respond; elicitation?: string | undefined };

export type ClientParts = {
  files: ClientFiles;
  /** Null: the agent was informed that there are none. */
  terminals: AgentTerminals | null;
  policy(): Policy;
  /** The session's directory: edits outside of it are asked for. */
  directory: string;
  /** What a request for permission is about; null when a person must decide about it. */
  change(id: RpcId): { kind?: string | undefined; paths: string[] } | null;
  /** Whether a question about this native session reaches a person: it is the session here, or one of its sub-agents. */
  reaches(session: string): boolean;
  /** Called before a policy answers, so that the answer is known as the policy's. */
  onPolicy(id: RpcId, option: PermissionOption): void;
};

export class AcpClient {
  readonly #parts: ClientParts;
  readonly #waiting = new Map<string, Waiting>();
  /** The running turn was told to stop, and has not said its end. */
  #stopping = false;

  constructor(parts: ClientParts) {
    this.#parts = parts;
  }

  handle(method: string, params: JsonRecord, id: RpcId, respond: Respond): unknown {
    const { files, terminals } = this.#parts;
    switch (method) {
      case "session/request_permission":
        this.#mustReach(str(params.sessionId) ?? "");
        return this.#permission(params, id, respond);
      case "elicitation/create":
        if (params.sessionId !== undefined && params.sessionId !== null) this.#mustReach(str(params.sessionId) ?? "");
        if (this.#stopping) return STOPPED.elicitation;
        this.#waiting.set(idKey(id), { kind: "elicitation", respond, elicitation: str(params.elicitationId) });
        return LATER;
      case "fs/read_text_file":
        return files.read(params);
      case "fs/write_text_file":
        return files.write(params);
      default:
        if (terminals === null) throw JsonRpcError.methodNotFound(method);
        return terminalCall(terminals, method, params);
    }
  }

  /** A question that nobody would ever see is refused: the turn would wait for its answer for ever. */
  #mustReach(session: string): void {
    if (this.#parts.reaches(session)) return;
    throw new JsonRpcError(INVALID_PARAMS, session === "" ? "sessionId is missing." : `There is no session ${session} here.`);
  }

  #permission(params: JsonRecord, id: RpcId, respond: Respond): unknown {
    if (this.#stopping) return STOPPED.permission;
    const options = readOptions(params.options);
    const allow = this.#allows(id) ? optionFor(options, plain("once")) : undefined;
    if (allow !== undefined) {
      this.#parts.onPolicy(id, allow);
      return selected(allow);
    }
    this.#waiting.set(idKey(id), { kind: "permission", respond });
    return LATER;
  }

  #allows(id: RpcId): boolean {
    const change = this.#parts.change(id);
    if (change === null) return false;
    switch (this.#parts.policy()) {
      case "all":
        return true;
      case "edits": {
        const { kind = "", paths } = change;
        const inside = paths.length > 0 && paths.every((path) => isInside(this.#parts.directory, path));
        return inside && ["edit", "delete", "move"].includes(kind);
      }
      case "ask":
        return false;
    }
  }

  replyPermission(native: unknown, reply: PermissionReply): void {
    if (!isPermission(native)) return;
    const chosen = optionFor(native.options, reply);
    this.#answer(native.id, chosen === undefined ? CANCELLED : selected(chosen));
  }

  replyQuestion(native: unknown, answers: string[][] | null): void {
    if (isElicitation(native)) return this.#answer(native.id, formResult(native.fields, answers));
    if (isPlan(native)) return this.#replyPlan(native, answers);
    if (!isPermissionQuestions(native)) return;
    const option = optionFor(native.options, plain(answers === null ? "reject" : "once"));
    if (option === undefined) return this.#answer(native.id, CANCELLED);
    if (answers === null) return this.#answer(native.id, selected(option));
    const given = answers.flatMap((answer, index) => (answer.length === 0 ? [] : [[String(index), answer.join(", ")] as const]));
    this.#answer(native.id, { ...selected(option), answers: Object.fromEntries(given) });
  }

  /** The protocol has no words for an answer that was not offered: it approves nothing. */
  #replyPlan({ id, answers: offered }: NativePlan, answers: string[][] | null): void {
    const words = answers?.[0]?.join(", ");
    const chosen = offered.find(({ label }) => label === words) ?? offered.find(({ option }) => option.kind.startsWith("reject"));
    this.#answer(id, chosen === undefined ? CANCELLED : selected(chosen.option));
  }

  /** The agent takes a request back; it still has to be answered. */
  withdraw(id: RpcId): void {
    const waiting = this.#waiting.get(idKey(id));
    if (waiting === undefined) return;
    this.#waiting.delete(idKey(id));
    if (waiting.kind === "permission") waiting.respond.result(CANCELLED);
    else waiting.respond.error(new JsonRpcError(JSON_RPC_REQUEST_CANCELLED, "Request cancelled"));
  }

  /** What a link was for is done: whoever followed it need not say so here. */
  completed(elicitation: string): void {
    for (const [key, waiting] of this.#waiting) {
      if (waiting.elicitation !== elicitation) continue;
      this.#waiting.delete(key);
      waiting.respond.result({ action: "accept" });
    }
  }

  /** The turn is stopped: what still waits for a person is cancelled, and so is what the agent asks before it knows. */
  cancelAll(stopping: boolean): void {
    this.#stopping = stopping;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { kind, respond } of waiting) respond.result(STOPPED[kind]);
  }

  /** The turn that was to stop is over, or another begins. */
  stopped(): void {
    this.#stopping = false;
  }

  #answer(id: RpcId, result: JsonRecord): void {
    const waiting = this.#waiting.get(idKey(id));
    this.#waiting.delete(idKey(id));
    waiting?.respond.result(result);
  }
}

const selected = (option: PermissionOption): JsonRecord => ({ outcome: { outcome: "selected", optionId: option.id } });
const plain = (reply: PlainReply) => ({ reply, option_id: null });
const CANCELLED: JsonRecord = { outcome: { outcome: "cancelled" } };
const STOPPED: Record<Waiting["kind"], JsonRecord> = { permission: CANCELLED, elicitation: { action: "cancel" } };

function terminalCall(terminals: AgentTerminals, method: string, params: JsonRecord): unknown {
  switch (method) {
    case "terminal/create":
      return terminals.create(params);
    case "terminal/output":
      return terminals.output(params);
    case "terminal/wait_for_exit":
      return terminals.waitForExit(params);
    case "terminal/kill":
      return terminals.kill(params);
    case "terminal/release":
      return terminals.release(params);
    default:
      throw JsonRpcError.methodNotFound(method);
  }
}
