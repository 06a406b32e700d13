/** Finds the results of tools that may have changed files, in what native messages mean. It is asked after every message, so what is frequent is passed over first. */
import type { Translation } from "../agents/contract.ts";
import type { ToolKind } from "../schema/content.ts";
import type { DraftPart, ItemKey } from "../schema/draft.ts";

/** Tools of these kinds only look. */
const READING: ReadonlySet<ToolKind> = new Set(["read", "search", "fetch", "web_search", "plan", "question", "think"] as const);

export class ChangingTools {
  /** Calls of the turn that are not answered yet. */
  readonly #calls = new Map<string, { name: string; changes: boolean }>();
  /** Results in progress: the item's key and its call. */
  readonly #results = new Map<ItemKey, string>();

  /** The tool's name; null: of a call nobody reported. Undefined: nothing may have changed. */
  changed(translations: readonly Translation[]): string | null | undefined {
    let found: string | null | undefined;
    for (const { drafts } of translations)
      for (const draft of drafts) {
        switch (draft.do) {
          case "item.start":
          case "item.add": {
            const { key, content = [] } = draft.item;
            const call = this.#note(content);
            if (call === undefined) break;
            if (draft.do === "item.start") this.#results.set(key, call);
            else found = this.#latest(found, call);
            break;
          }
          case "item.update":
            if (draft.content) this.#note(draft.content);
            break;
          case "item.complete": {
            const call = (draft.content && this.#note(draft.content)) ?? this.#results.get(draft.key);
            this.#results.delete(draft.key);
            if (call !== undefined) found = this.#latest(found, call);
            break;
          }
        }
      }
    return found;
  }

  clear(): void {
    this.#calls.clear();
    this.#results.clear();
  }

  /** Remembers calls. Returns the call that a result in it answers. */
  #note(content: readonly DraftPart[]): string | undefined {
    let answered: string | undefined;
    for (const part of content) {
      if (part.type === "tool_call") {
        const changes = part.tool_kind === undefined || !READING.has(part.tool_kind);
        this.#calls.set(part.call_id, { name: part.name, changes });
      } else if (part.type === "tool_result") answered = part.call_id;
    }
    return answered;
  }

  #latest(found: string | null | undefined, call: string): string | null | undefined {
    const known = this.#calls.get(call);
    this.#calls.delete(call);
    if (!known) return null;
    return known.changes ? known.name : found;
  }
}
