/** The agent's side of what is written: each native message into the ledger and what it means into the story, and the loss of the agent's process. */
import type { ExitInfo, Translation } from "../agents/contract.ts";
import type { StreamWriter } from "../log/contract.ts";
import type { Draft } from "../schema/draft.ts";
import { dispositionOf, type NativeRecord, unparsedOf } from "./channel.ts";
import type { SessionRecord } from "./session-record.ts";

/** `t_ms`: since the session began. */
export function writeNative(
  record: SessionRecord,
  stream: StreamWriter,
  message: NativeRecord,
  translations: Translation[],
  t_ms: number,
): void {
  const { scribe, row } = record;
  const { dir, raw } = message;
  const before = stream.last;
  const { type, disposition } = dispositionOf(translations);
  const native = stream.appendNative({ dir, t_ms, type, disposition, raw });
  scribe.turns.exit = message.exit ?? null;
  if (message.exit) scribe.exited = native;
  for (const translation of translations)
    scribe.translation(
      row.named ? keepTitle(translation) : translation,
      native,
      dir !== "in",
      unparsedOf(translation, row.agent, message),
    );
  scribe.turns.exit = null;
  record.settled(before);
}

/** [S1] An agent's death does not end a session that the agent can resume. */
export function writeLostAgent(
  record: SessionRecord,
  stream: StreamWriter,
  info: { exit: ExitInfo | null; message?: string },
): void {
  const before = stream.last;
  record.decide({ do: "lost", ...info });
  record.settled(before);
}

/** What a person named stays named: the agent's own title is kept beside it. */
function keepTitle(translation: Translation): Translation {
  const drafts = translation.drafts.map((draft): Draft => {
    if (draft.do !== "event" || draft.type !== "session.updated" || draft.data.title === undefined) return draft;
    const { title, metadata, ...data } = draft.data;
    return { ...draft, data: { ...data, metadata: { ...metadata, native_title: title } } };
  });
  return { ...translation, drafts };
}
