/**
 * Builds the body of a request from the state alone, key by key in a fixed order: the same state gives the same bytes, today and in a replay. A conversation only
 * grows, so each of its parts is written as JSON once and its digest goes on from where it was.
 */
import { createHash, type Hash } from "node:crypto";
import type { JsonObject } from "../openresponses/json.ts";
import { sha256 } from "./digest.ts";
import { balanceFault, callsOf, type Entry, inputItems } from "./input-items.ts";
import type { Settings } from "./settings.ts";
import type { RuntimeState } from "./state.ts";

/** Tools that a plan may use. */
export const READ_ONLY_TOOLS: readonly string[] = ["read", "ls", "glob", "grep", "plan", "ask", "skill"];

/** A body with what the journal says of it. */
export interface RequestBody {
  readonly text: string;
  readonly sha256: string;
  readonly bytes: number;
}

export const bodyOf = (text: string): RequestBody => ({ text, sha256: sha256(text), bytes: Buffer.byteLength(text) });

/** What is written of a conversation so far. It holds for these settings and this list of parts. */
interface Written {
  readonly settings: Settings;
  readonly sessionId: string;
  readonly entries: readonly Entry[];
  /** The end of the body, after the conversation. */
  readonly tail: string;
  count: number;
  text: string;
  hash: Hash;
  bytes: number;
  isEmpty: boolean;
}

export class RequestWriter {
  #written: Written | null = null;

  body(state: RuntimeState): RequestBody {
    const written = this.#writtenFor(state);
    const { entries, outcomeOf } = state;
    // A part is final when all its calls have an outcome.
    while (written.count < entries.length && isFinal(entries[written.count] as Entry, outcomeOf)) {
      this.#add(written, itemsText([entries[written.count] as Entry], state));
      written.count += 1;
    }
    const open = itemsText(entries.slice(written.count), state);
    const rest = `${open === "" || written.isEmpty ? open : `,${open}`}${written.tail}`;
    const digest = written.hash.copy().update(rest).digest("hex");
    return { text: `${written.text}${rest}`, sha256: digest, bytes: written.bytes + Buffer.byteLength(rest) };
  }

  #writtenFor(state: RuntimeState): Written {
    const { settings, sessionId, entries } = state;
    const known = this.#written;
    if (known?.settings === settings && known.sessionId === sessionId && known.entries === entries) return known;
    const text = `${JSON.stringify(baseBody(state)).slice(0, -1)},"input":[`;
    const keys = JSON.stringify(toolKeys(state)).slice(1, -1);
    const fresh = { settings, sessionId, entries, count: 0, text: "", bytes: 0, isEmpty: true, hash: createHash("sha256") };
    const written: Written = { ...fresh, tail: `]${keys === "" ? "" : `,${keys}`}}` };
    append(written, text);
    this.#written = written;
    return written;
  }

  #add(written: Written, text: string): void {
    if (text === "") return;
    append(written, written.isEmpty ? text : `,${text}`);
    written.isEmpty = false;
  }
}

function append(written: Written, text: string): void {
  written.text += text;
  written.hash.update(text);
  written.bytes += Buffer.byteLength(text);
}

const isFinal = (entry: Entry, outcomeOf: RuntimeState["outcomeOf"]): boolean =>
  entry.kind === "input" || callsOf(entry).every((call) => outcomeOf(call.key) !== undefined);

/** The items of these parts with commas between them. Each part is balanced by itself. */
function itemsText(entries: readonly Entry[], { outcomeOf, settings }: RuntimeState): string {
  const items = inputItems(entries, outcomeOf, settings.endpoint);
  const fault = balanceFault(items);
  if (fault !== null) throw new Error(`The conversation is not balanced (${fault}): this is a bug of the runtime.`);
  return items.length === 0 ? "" : JSON.stringify(items).slice(1, -1);
}

/** A request without tools, for a summary. */
export function summaryBody(state: RuntimeState, items: readonly JsonObject[], question: JsonObject): RequestBody {
  return bodyOf(JSON.stringify({ ...baseBody(state), input: [...items, question] }));
}

function baseBody(state: RuntimeState): JsonObject {
  const { settings, sessionId } = state;
  const { endpoint } = settings;
  return {
    model: settings.model,
    instructions: settings.instructions,
    store: false,
    stream: true,
    ...(endpoint.reasoning === "encrypted" ? { include: ["reasoning.encrypted_content"] } : {}),
    ...(endpoint.prompt_cache_key ? { prompt_cache_key: sessionId.slice(0, 64) } : {}),
    ...(settings.reasoning_effort === null ? {} : { reasoning: { effort: settings.reasoning_effort, summary: "auto" } }),
    ...(settings.max_output_tokens === null ? {} : { max_output_tokens: settings.max_output_tokens }),
  };
}

function toolKeys(state: RuntimeState): JsonObject {
  const { settings } = state;
  if (settings.tools.length === 0) return {};
  // The list of tools stays the same in every mode: the provider's cache of the prompt stays valid.
  const choice = settings.mode === "plan" && settings.endpoint.tool_choice ? { tool_choice: planChoice(settings.tools) } : {};
  return { tools: settings.tools, ...choice, parallel_tool_calls: true };
}

const planChoice = (tools: readonly JsonObject[]): JsonObject => ({
  type: "allowed_tools",
  mode: "auto",
  tools: tools
    .filter((tool) => READ_ONLY_TOOLS.includes(String(tool.name)))
    .map((tool) => ({ type: tool.type === "custom" ? "custom" : "function", name: tool.name })),
});
