/**
 * What one MCP server knows of the sessions it shows: which it created, and which it may drive. That it answers no requests of sessions created through MCP,
 * and none at all inside an agent, is decided by the daemon.
 */
import { isWider } from "../schema/mode-width.ts";
import type { Session } from "../schema/session.ts";
import { ToolRefusal } from "./tool-refusal.ts";

export class Ownership {
  readonly #created = new Set<string>();
  readonly #mode: Session["permission_mode"];

  /** `mode`: the widest permission mode it may work with; a person chose it. */
  constructor(mode: Session["permission_mode"]) {
    this.#mode = mode;
  }

  created(sessionId: string): void {
    this.#created.add(sessionId);
  }

  createdHere({ session_id }: Session): boolean {
    return this.#created.has(session_id);
  }

  /** A message to a session is a deed in that session's mode: in a wider one it would do what the person did not allow here. */
  mustMaySend(session: Session): void {
    if (!isWider(session.permission_mode, this.#mode)) return;
    throw new ToolRefusal(
      "wider_mode",
      `The session works in the permission mode ${session.permission_mode}, and this server was started for ${this.#mode}. ` +
        `A person sends the message, or starts the server with --permission-mode ${session.permission_mode}.`,
    );
  }
}
