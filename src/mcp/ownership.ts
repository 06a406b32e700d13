/**
 * Who may answer a permission. An agent that starts other agents must not be the one who lets them out: sessions made through an MCP server carry a mark,
 * and no MCP connection answers permissions of marked sessions, nor of the session it runs in itself. People do, in the inspector or the command line.
 */
import type { Session } from "../schema/session.ts";
import { ToolRefusal } from "./tool-refusal.ts";

/** In the session's metadata. The tools have no way to set metadata, so it can be neither forged nor left out. */
export const MARK = "created_by";
const PREFIX = "mcp:";

export class Ownership {
  /** Of this connection; a new one after every start. */
  readonly id: string;
  readonly #inside: string | undefined;

  /** `inside`: the session whose agent uses this server, when it is known. */
  constructor(id: string, inside?: string) {
    this.id = id;
    this.#inside = inside;
  }

  get metadata(): Record<string, string> {
    return { [MARK]: `${PREFIX}${this.id}` };
  }

  createdHere(session: Session): boolean {
    return session.metadata[MARK] === `${PREFIX}${this.id}`;
  }

  /** All marks count, not only this connection's: otherwise connecting again would be enough to answer one's own. */
  mustAllowAnswer(session: Session): void {
    const mark = session.metadata[MARK];
    const marked = typeof mark === "string" && mark.startsWith(PREFIX);
    if (!marked && session.session_id !== this.#inside) return;
    throw new ToolRefusal(
      "own_permission",
      `${marked ? "This session was created through MCP" : "You run in this session yourself"}, so its permissions are not yours to answer. ` +
        `Ask the person: \`dragoman allow ${session.session_id}\` or \`dragoman deny ${session.session_id}\`, or the inspector. Then call wait_for_session again.`,
    );
  }
}
