/** `dragoman replay --run <session or file>`: the loop of our own agent once more, without a model; and from one of its requests on, with one. */
import { readFile, stat } from "node:fs/promises";
import { EXIT, flag, type Invocation, need, text, UsageError } from "../command.ts";

export async function replayRunCommand(call: Invocation): Promise<number> {
  const { words, values, json, print, terminal } = call;
  const { journalOf, replayRun } = await import("../../agents/responses/replay/run.ts");
  const { parseRow } = await import("../../verify/trace-file.ts");
  const lines = (await nativeOf(call, need(words, 0, "the session"))).split("\n").filter((line) => line.trim() !== "");
  const rows = lines.flatMap((line) => {
    const read = parseRow(line);
    return "row" in read && read.row.dir !== "daemon" ? [{ dir: read.row.dir, data: read.row.data }] : [];
  });
  const records = journalOf(rows);
  const directory = text(values, "directory") ?? terminal.cwd;
  if (flag(values, "live")) return live(call, records, directory);
  const report = await replayRun(records, directory);
  const same = report.differentRequests.length === 0 && report.firstDifference === null && report.differentTold === null;
  if (flag(values, "json")) json({ ...report, same });
  else {
    print(`${report.requests} requests, ${report.differentRequests.length} with other bytes; ${report.told} events.`);
    for (const { n, attempt } of report.differentRequests) print(`Request ${n}, attempt ${attempt}: other bytes.`);
    for (const difference of [report.firstDifference, report.differentTold])
      if (difference !== null)
        print(`Recorded: ${JSON.stringify(difference.recorded)}\nReplayed: ${JSON.stringify(difference.replayed)}`);
    print(same ? "The same, byte for byte." : "Not the same.");
  }
  return same ? EXIT.ok : EXIT.failed;
}

async function live(
  call: Invocation,
  records: Parameters<typeof import("../../agents/responses/replay/live.ts").goOnLive>[0],
  directory: string,
): Promise<number> {
  const { values, terminal } = call;
  const [until, baseUrl, model] = [Number(text(values, "until")), text(values, "endpoint"), text(values, "model")];
  if (!Number.isInteger(until) || until < 1)
    throw new UsageError("--live needs --until <n>: the first request that is asked anew");
  if (baseUrl === undefined || !URL.canParse(baseUrl)) throw new UsageError("--live needs --endpoint <url>");
  const { goOnLive } = await import("../../agents/responses/replay/live.ts");
  const apiKey = terminal.env.RESPONSES_API_KEY;
  const end = await goOnLive(records, {
    ...{ until, directory },
    endpoint: { baseUrl, ...(apiKey ? { apiKey } : {}) },
    ...(model === undefined ? {} : { model }),
    onText: (chunk) => void terminal.stdout.write(chunk),
  });
  call.say(`The turn ended: ${end.reason}${end.message === null ? "" : ` (${end.message})`}`);
  return end.reason === "end_turn" ? EXIT.ok : EXIT.failed;
}

/** A file of `dragoman native`, or a session of the daemon. */
async function nativeOf({ daemon }: Invocation, given: string): Promise<string> {
  const file = await stat(given).catch(() => null);
  if (file?.isFile()) return readFile(given, "utf8");
  return (await daemon()).session(given).native();
}
