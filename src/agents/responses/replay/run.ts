/**
 * Plays a recorded session of our own agent again, from its ledger: the loop runs with the recorded bytes of the provider and the recorded results of tools. Every
 * request must have the recorded bytes, and everything reported must come out the same. Nothing is asked and nothing is run.
 */
import { parseJson } from "../../../openresponses/json.ts";
import { type SseBlock, SseReader } from "../../../openresponses/sse-reader.ts";
import { canonicalJson } from "../../../runtime/digest.ts";
import { recordedTools } from "../../../runtime/recorded-tools.ts";
import { type JournalRecord, recordFault } from "../../../runtime/records.ts";
import { type ReplayReport, replay } from "../../../runtime/replay.ts";
import type { Draft } from "../../../schema/draft.ts";
import type { NativeMessage } from "../../contract.ts";
import { toJson } from "../../json.ts";
import { ResponsesTranslator } from "../translate/translator.ts";

export type RunReport = Omit<ReplayReport, "records"> & {
  /** What the session says, and what of it came out otherwise. */
  told: number;
  differentTold: { recorded: unknown; replayed: unknown } | null;
};

/** The journal in a ledger. Throws with a sentence when there is none. */
export function journalOf(ledger: Iterable<NativeMessage>): JournalRecord[] {
  const records: JournalRecord[] = [];
  let request = { n: 0, attempt: 0, time: 0 };
  for (const { dir, data } of ledger) {
    if (dir === "out" && recordFault(data) === null) {
      const record = data as JournalRecord;
      if (record.type === "request.sent") request = record;
      records.push(record);
    } else if (dir === "sse") {
      const bytes = typeof data === "string" ? data : toJson(data);
      records.push({ type: "received", time: request.time, n: request.n, attempt: request.attempt, encoding: "utf8", bytes });
    }
  }
  const [first] = records;
  if (first === undefined)
    throw new Error("The session holds no records of this agent: only sessions of `responses` can be run again.");
  if (first.type !== "session.opened")
    throw new Error(
      "The session began as a copy of another one: its beginning is not in its own ledger. Run the other one again.",
    );
  return records;
}

export async function replayRun(records: readonly JournalRecord[], directory: string): Promise<RunReport> {
  const { records: again, ...report } = await replay(records, { registry: recordedTools(records), directory });
  const [recorded, replayed] = [tellings(records), tellings(again)];
  const keys = new Set([...recorded.keys(), ...replayed.keys()]);
  let different: RunReport["differentTold"] = null;
  for (const key of keys) {
    const [before, after] = [recorded.get(key) ?? [], replayed.get(key) ?? []];
    const at = Array.from({ length: Math.max(before.length, after.length) }).findIndex(
      (_, place) => before[place] !== after[place],
    );
    if (at !== -1) different ??= { recorded: before[at] ?? null, replayed: after[at] ?? null };
  }
  return { ...report, told: [...recorded.values()].reduce((sum, list) => sum + list.length, 0), differentTold: different };
}

/** What was reported about each thing, in order. Things that go on side by side have no order between them. */
function tellings(records: readonly JournalRecord[]): Map<string, string[]> {
  const translator = new ResponsesTranslator();
  const told = new Map<string, string[]>();
  for (const message of records.flatMap(messagesOf))
    for (const { drafts } of translator.translate(message))
      for (const draft of drafts) {
        const key = keyOf(draft);
        told.set(key, [...(told.get(key) ?? []), canonicalJson(untimed(draft))]);
      }
  return told;
}

/** A record of received bytes may hold several blocks of the stream. */
function messagesOf(record: JournalRecord): NativeMessage[] {
  if (record.type !== "received") return [{ dir: "out", data: record }];
  if (record.bytes.startsWith("{")) return [{ dir: "sse", data: parseJson(record.bytes) ?? record.bytes }];
  const blocks: NativeMessage[] = [];
  const onBlock = ({ bytes }: SseBlock): void => void blocks.push({ dir: "sse", data: bytes.toString("utf8") });
  const reader = new SseReader({ maxBlockBytes: Number.MAX_SAFE_INTEGER, onBlock });
  reader.push(Buffer.from(record.bytes, record.encoding));
  const rest = reader.end();
  return rest.length === 0 ? blocks : [...blocks, { dir: "sse", data: rest.toString("utf8") }];
}

/** Items by their key, other things by what they are. */
function keyOf(draft: Draft): string {
  if (draft.do === "item.start" || draft.do === "item.add") return draft.item.key;
  if (draft.do === "event") return draft.type;
  return "key" in draft ? draft.key : draft.do;
}

/** Times are inputs. */
const untimed = (draft: Draft): unknown =>
  JSON.parse(
    JSON.stringify(draft, (name, value: unknown) => (name === "duration_ms" || name === "retry_at" ? undefined : value)),
  );
