// The files that edits change which are under way, by thread: a request for an approval names the edit alone. Not here: what is decided about them.
import { type JsonRecord, rec, records, str } from "../../json.ts";
import { changePaths } from "../translate/parts.ts";

export class OpenEdits {
  readonly #threads = new Map<string, Map<string, string[]>>();

  /** A notification of any thread of the session. What a turn began ends with it. */
  notified(method: string, params: JsonRecord): void {
    const thread = str(params.threadId) ?? "";
    if (method === "turn/completed") this.#threads.delete(thread);
    const { id, type, changes } = rec(params.item);
    if (method !== "item/started" || type !== "fileChange") return;
    const edits = this.#threads.get(thread) ?? new Map<string, string[]>();
    this.#threads.set(thread, edits.set(str(id) ?? "", changePaths(records(changes))));
  }

  /** Of the edit that a request is about; none when it is not known. */
  paths({ threadId, itemId }: JsonRecord): string[] {
    return this.#threads.get(str(threadId) ?? "")?.get(str(itemId) ?? "") ?? [];
  }
}
