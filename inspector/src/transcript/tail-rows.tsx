/** What stands below the stored part of a transcript: messages on their way, and the sign that the agent works, with the time it has taken so far. */
import { useEffect, useMemo } from "react";
import type { Item } from "../../../src/schema/item.ts";
import { visibleLine } from "../../../src/schema/visible-text.ts";
import { type Outgoing, outbox, takeBack } from "../state/outbox.ts";
import { sessions } from "../state/sessions.ts";
import { useSignal, useStore } from "../state/store.ts";
import { Spinner } from "../ui/controls.tsx";
import { elapsed } from "../ui/format.ts";
import { Icon } from "../ui/icons.tsx";
import { useSecond } from "../ui/use-minute.ts";
import { textOf } from "./branch.ts";
import { type TranscriptView, useView } from "./context.ts";
import type { Row } from "./rows.ts";
import { toolTitle } from "./tools/describe.ts";

const BUSY: ReadonlySet<string> = new Set(["running", "starting", "waiting"]);

export function useTail(view: TranscriptView): readonly Row[] {
  const out = useStore(outbox);
  const replayed = useSignal(view.changed, () => view.replay !== null);
  const structure = useSignal(view.changed, () => view.fold.structure);
  const busy = useSignal(sessions.changed, () => BUSY.has(sessions.get(view.id)?.status ?? ""));
  // biome-ignore lint/correctness/useExhaustiveDependencies: a message is stored when the fold has changed.
  const waiting = useMemo(() => out.filter((each) => each.session_id === view.id && !isTold(view, each)), [out, view, structure]);
  useEffect(() => {
    for (const each of out) if (each.session_id === view.id && !waiting.includes(each)) takeBack(each.key);
  }, [out, waiting, view]);
  return useMemo(() => {
    if (replayed) return [];
    const sent = waiting.map((message): Row => ({ key: `out ${message.key}`, depth: 0, kind: "outgoing", message }));
    return busy || sent.length > 0 ? [...sent, { key: "working", depth: 0, kind: "working" }] : [];
  }, [replayed, waiting, busy]);
}

/** The session's own events report it. */
function isTold({ fold }: TranscriptView, { turn_id, text, after }: Outgoing): boolean {
  if (turn_id !== null && fold.turns.get(turn_id)?.ended != null) return true;
  return newest(fold).some(
    ({ item, sequence }) =>
      item.role === "user" &&
      (turn_id === null ? sequence > after && textOf(item).trim() === text.trim() : item.turn_id === turn_id),
  );
}

const LOOKED_AT = 40;

/** The newest items: a long transcript is not searched with every frame. */
const newest = (fold: TranscriptView["fold"]): { item: Item; sequence: number }[] =>
  fold
    .entries()
    .slice(-LOOKED_AT)
    .flatMap((entry) => {
      const item = entry.kind === "item" ? fold.item(entry.item_id) : undefined;
      return item ? [{ item, sequence: entry.sequence }] : [];
    });

export const OutgoingRow = ({ message }: { message: Outgoing }) => (
  <article className="message user outgoing" aria-label="You">
    <p className="plain-text">{message.text}</p>
    {message.files.length > 0 && <span className="dim">{message.files.map(visibleLine).join(", ")}</span>}
  </article>
);

export function WorkingRow() {
  const view = useView();
  const row = useSignal(sessions.changed, () => sessions.get(view.id));
  const doing = useSignal(view.changed, () => doingOf(view));
  const began = useSignal(view.changed, () => view.fold.session.turn?.started_at ?? null);
  const sent = useStore(outbox).find((each) => each.session_id === view.id)?.sent_at;
  const now = useSecond();
  const since = began ?? sent;
  const waits = row?.status === "waiting";
  return (
    <div className="working" role="status" aria-live="off">
      {waits ? <Icon name="bell" size={14} /> : <Spinner />}
      <span>{waits ? "Waiting for you" : (row?.status_detail ?? doing ?? (began ? "Working" : "Starting"))}</span>
      {since && <span className="dim">{elapsed(now - Date.parse(since))}</span>}
    </div>
  );
}

/** What is going on just now, from the newest item that is not finished. */
function doingOf({ fold }: TranscriptView): string | null {
  const open = newest(fold).findLast(({ item }) => item.status === "in_progress" && item.role !== "user")?.item;
  const part = open?.content.at(-1);
  if (part?.type === "tool_call") return toolTitle(part);
  if (part?.type === "reasoning") return "Thinking";
  return part?.type === "text" ? "Writing" : null;
}
