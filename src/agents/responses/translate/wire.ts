/**
 * The native messages of our own agent. What it says (`out`) are the records of its journal, as they are, and the few messages below; the provider's stream (`sse`)
 * is kept block by block, byte for byte. What it is sent (`in`) are commands.
 */
import type { JsonObject } from "../../../openresponses/json.ts";
import type { PermissionSubject } from "../../../runtime/permission-subject.ts";
import type { JournalRecord } from "../../../runtime/records.ts";
import type { PlainReply } from "../../../schema/event-data.ts";

/** The one native session of a connection. */
export const SESSION = "main";

/** A call that a crash left open, as it is when the session goes on. */
export type OpenCall = { key: string; call_id: string; name: string; input: string };

/** A command to the agent. */
export type Command =
  | { type: "prompt" | "steer"; message_id: string; text: string; items: JsonObject[] }
  | { type: "command"; message_id: string; text: string; name: string }
  | { type: "interrupt" }
  | { type: "task.stop"; id: string }
  | { type: "configure"; model?: string; mode?: string; reasoning_effort?: string | null }
  | { type: "permission.reply"; id: string; reply: PlainReply; message: string | null }
  | { type: "question.reply"; id: string; answers: string[][] | null };

/** What the agent says beside its records. */
export type Statement =
  /** A journal is read again, or copied for a fork. Calls without an outcome are named. `records`: how many it has. */
  | {
      type: "session.resumed";
      session_id: string;
      model: string;
      mode: string;
      turn_id: string | null;
      calls: OpenCall[];
      records: number;
    }
  | { type: "session.facts"; endpoint: string; models: string[]; tools: string[]; commands: string[] }
  | { type: "notice"; name: string; detail: string }
  | {
      type: "permission.asked";
      id: string;
      call: string;
      call_id: string;
      tool: string;
      subject: PermissionSubject;
      args: JsonObject;
      reason: string;
      diff: string | null;
    }
  /** `call` is absent in ledgers of older daemons. */
  | { type: "question.asked"; id: string; call?: string | null; questions: { question: string; options: readonly string[] }[] }
  /** The MCP servers and how they are. */
  | { type: "mcp.servers"; servers: { name: string; status: string; error?: string }[]; tools: string[] }
  /** A sub-agent works for this call, in a session of its own. */
  | { type: "child.started"; call: string; session_id: string; agent: string }
  /** An event of that session: what it says and does belongs to the call. */
  | { type: "child.event"; call: string; session_id: string; event: { type: string; data: JsonObject } }
  | { type: "child.permission"; id: string; call: string; permission: JsonObject }
  | { type: "child.question"; id: string; call: string; questions: JsonObject[] }
  /** It was answered there, or is not open any more. */
  | { type: "child.resolved"; id: string; approved: boolean; answers: string[][] | null }
  /** A command goes on after its call was answered: a task of the session. */
  | { type: "task.started"; id: string; command: string; cwd: string; title: string }
  | { type: "task.output"; id: string; stream: "stdout" | "stderr"; text: string }
  | { type: "task.ended"; id: string; exit_code: number; stopped: boolean }
  /** Nobody needs to answer any more. */
  | { type: "request.withdrawn"; id: string }
  | { type: "command.ended"; name: string; outcome: string; error_code: string | null; message: string | null }
  /** The runtime itself failed: its journal could not be written. */
  | { type: "runtime.failed"; message: string };

export type Spoken = JournalRecord | Statement;
