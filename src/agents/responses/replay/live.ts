/** Goes on with a recorded session from one of its requests, with a living model: what came before is as it was, what comes after is new. */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ClientOptions } from "../../../openresponses/client.ts";
import { openAgent } from "../../../runtime/assemble.ts";
import { untilRequest } from "../../../runtime/fork.ts";
import { journalLine } from "../../../runtime/journal-file.ts";
import type { JournalRecord } from "../../../runtime/records.ts";
import { answerText } from "../../../runtime/step.ts";

export type LiveOptions = {
  /** The first request that is asked anew. */
  until: number;
  endpoint: ClientOptions;
  /** The recorded one unless given. */
  model?: string;
  /** Where tools work: they are real. What would be asked about is denied. */
  directory: string;
  onText(text: string): void;
};

/** How the turn ended. */
export async function goOnLive(
  records: readonly JournalRecord[],
  options: LiveOptions,
): Promise<{ reason: string; message: string | null }> {
  const data = await mkdtemp(join(tmpdir(), "dragoman-replay-"));
  const kept = untilRequest(records, options.until);
  try {
    await writeFile(join(data, "journal"), kept.map((record) => journalLine(record)).join(""), { mode: 0o600 });
    const opened = records.find((record) => record.type === "session.opened");
    const settings = opened?.type === "session.opened" ? opened.settings : undefined;
    const agent = await openAgent({
      sessionId: randomUUID(),
      endpoint: options.endpoint,
      model: options.model ?? settings?.model ?? "",
      directory: options.directory,
      data,
      asker: {
        ask: ({ input_digest }) => Promise.resolve({ decision: "deny", input_digest, message: "Nobody can be asked here." }),
      },
      ids: { next: () => randomUUID() },
      trusted: false,
      ...(settings === undefined ? {} : { settings: { mode: settings.mode, limits: settings.limits } }),
      onFrame: (frame) => {
        if (frame.type === "output_text_delta") options.onText(frame.delta);
      },
    });
    try {
      const end = await agent.loop.resume();
      const last = agent.loop.state.lastAnswer;
      if (end === null) throw new Error("There is no open turn at this request.");
      if (last !== null) options.onText(`\n${answerText(last.items)}`.endsWith("\n") ? "" : "\n");
      return { reason: end.reason, message: end.message };
    } finally {
      await agent.close();
    }
  } finally {
    await rm(data, { recursive: true, force: true });
  }
}
