/**
 * Which deltas of a session hold a secret or a piece of one. A first pass looks for secrets in whole texts; only if there are some, a second one finds the
 * deltas they are in. So a session without secrets, of any length, leaves nothing in memory. Not here: what an export does with it (export-redaction.ts).
 */
import type { Stream } from "../log/contract.ts";
import type { Found, Redactor } from "../redaction/redactor.ts";
import type { UniversalEvent } from "../schema/event.ts";

type Delta = Extract<UniversalEvent, { type: "item.delta" }>;

/** The text of one part of an item while it grows. The same events give the same numbers in both passes. */
type Growing = { number: number; length: number; text: FlatText };
type Visitor = { delta(part: Growing, event: Delta, native: number | null): void; closed(part: Growing): void };
type Place = { stream: Stream; before: number; pause: () => Promise<void> };

export type DeltaSurvey = {
  /** What such deltas become, by sequence. */
  deltas: Map<number, string>;
  /** Native messages they came from. */
  tainted: Set<number>;
};

const ITEM_TYPES = ["item.started", "item.updated", "item.delta", "item.completed", "item.removed"];
const PAGE_BYTES = 512 * 1024;

/** Of the events before `before`. `pause` is awaited after each page. */
export async function surveyDeltas(
  stream: Stream,
  before: number,
  redactor: Pick<Redactor, "find">,
  pause: () => Promise<void>,
): Promise<DeltaSurvey> {
  const place = { stream, before, pause };
  const found = new Map<number, Found[]>();
  await pass(place, {
    delta: ({ text }, { data }) => text.add(data.delta),
    closed: ({ number, text }) => {
      const secrets = redactor.find(text.whole());
      if (secrets.length > 0) found.set(number, secrets);
    },
  });
  const survey: DeltaSurvey = { deltas: new Map(), tainted: new Set() };
  if (found.size === 0) return survey;
  await pass(place, {
    delta: ({ number, length }, { sequence, data: { delta } }, native) => {
      const secrets = found.get(number);
      // Those of the deltas before are done with: each is looked at once.
      while (secrets?.[0] && secrets[0].to <= length) secrets.shift();
      if (!secrets?.[0] || secrets[0].from >= length + delta.length) return;
      survey.deltas.set(sequence, without(delta, length, secrets));
      if (native !== null) survey.tainted.add(native);
    },
    closed: ({ number }) => void found.delete(number),
  });
  return survey;
}

async function pass({ stream, before, pause }: Place, visitor: Visitor): Promise<void> {
  const open = new Map<string, Map<number, Growing>>();
  let parts = 0;
  const part = (text: string): Growing => ({ number: parts++, length: text.length, text: new FlatText(text) });
  const close = (id: string): void => {
    for (const each of open.get(id)?.values() ?? []) visitor.closed(each);
    open.delete(id);
  };
  for (let after = 0, more = true; more; ) {
    const page = await stream.read({ after, before, limit: 1_000, types: ITEM_TYPES, maxBytes: PAGE_BYTES });
    for (const [index, json] of page.events.entries()) {
      const event = JSON.parse(json) as UniversalEvent;
      if (event.type === "item.delta") {
        const { item_id, part_index, delta } = event.data;
        const ofItem = open.get(item_id) ?? new Map<number, Growing>();
        open.set(item_id, ofItem);
        const growing = ofItem.get(part_index) ?? part("");
        ofItem.set(part_index, growing);
        visitor.delta(growing, event, page.natives[index] ?? null);
        growing.length += delta.length;
      } else if (event.type === "item.removed") close(event.data.item_id);
      else if (event.type === "item.completed") close(event.data.item.item_id);
      else if (event.type === "item.started" || event.type === "item.updated") {
        close(event.data.item.item_id);
        open.set(event.data.item.item_id, new Map(textsOf(event).map((text, at) => [at, part(text)])));
      }
    }
    more = page.has_more;
    after = page.next;
    await pause();
  }
  for (const id of [...open.keys()]) close(id);
}

/** What an item holds already, before deltas add to it. */
const textsOf = (event: Extract<UniversalEvent, { type: "item.started" | "item.updated" }>): string[] =>
  event.data.item.content.map((part) =>
    part.type === "tool_call"
      ? part.arguments
      : part.type === "tool_result"
        ? (part.output ?? "")
        : "text" in part
          ? part.text
          : "",
  );

/** The delta, which begins at `from` in its text, without what it holds of secrets; the mark stands in the delta where the secret begins. */
function without(delta: string, from: number, secrets: readonly Found[]): string {
  let out = "";
  let at = 0;
  for (const secret of secrets) {
    const [begin, end] = [secret.from - from, Math.min(secret.to - from, delta.length)];
    if (begin >= delta.length) break;
    if (begin >= at) out += `${delta.slice(at, begin)}[redacted:${secret.kind}]`;
    at = Math.max(at, end);
  }
  return out + delta.slice(at);
}

/** A text that grows by small pieces and keeps none of them: strings that are added up keep every piece as an object of its own. */
class FlatText {
  readonly #blocks: string[];
  #pieces: string[] = [];
  #chars = 0;

  constructor(text: string) {
    this.#blocks = [text];
  }

  add(piece: string): void {
    this.#pieces.push(piece);
    this.#chars += piece.length;
    if (this.#chars < 8_192) return;
    this.#blocks.push(this.#pieces.join(""));
    this.#pieces = [];
    this.#chars = 0;
  }

  whole(): string {
    return [...this.#blocks, ...this.#pieces].join("");
  }
}
