// `items`, `snapshot`, `coverage`, `native`: what lies behind a session's events.
import { createWriteStream } from "node:fs";
import { type Command, EXIT, flag, need, type Terminal, text, wholeNumber } from "../command.ts";

export const items: Command = {
  name: "items",
  usage: "items <session>",
  about: "print the transcript as JSON, one item a line",
  completes: ["sessions"],
  async run({ words, daemon, json, terminal }) {
    for await (const item of (await daemon()).session(need(words, 0, "the session")).transcript()) {
      json(item);
      await terminal.stdout.drained();
    }
    return EXIT.ok;
  },
};

export const snapshot: Command = {
  name: "snapshot",
  usage: "snapshot <session>",
  about: "the state of a session as JSON: facts, open turn, items in progress, requests, queue",
  options: { at: { type: "string", value: "<sequence>", about: "as it was after this event (default: now)" } },
  completes: ["sessions"],
  async run({ words, values, daemon, json }) {
    const at = text(values, "at");
    const session = (await daemon()).session(need(words, 0, "the session"));
    json(await session.snapshot(at === undefined ? {} : { at: wholeNumber(at, "at", 0) }));
    return EXIT.ok;
  },
};

export const coverage: Command = {
  name: "coverage",
  usage: "coverage <session>",
  about: "how the agent's native messages were understood, per type",
  help: "  Exit code: 0 everything was understood, 1 something is unparsed.",
  completes: ["sessions"],
  async run({ words, values, daemon, json, table, print }) {
    const found = await (await daemon()).session(need(words, 0, "the session")).coverage();
    if (flag(values, "json")) json(found);
    else {
      const rows = found.types.map(({ type, disposition, count }) => [type, disposition, String(count)]);
      table(["NATIVE TYPE", "DISPOSITION", "COUNT"], rows);
      const { mapped, noted, heartbeat, unparsed } = found.totals;
      print(`${mapped} mapped, ${noted} noted, ${heartbeat} heartbeats, ${unparsed} unparsed`);
    }
    return found.totals.unparsed > 0 ? EXIT.failed : EXIT.ok;
  },
};

export const native: Command = {
  name: "native",
  usage: "native <session>",
  about: "the flight recorder: every message of the agent's own protocol, both directions, as NDJSON",
  help: "  `dragoman replay <agent> <file>` translates it again, offline.",
  options: {
    after: { type: "string", value: "<native_seq>", about: "only messages after this one" },
    limit: { type: "string", value: "<n>", about: "at most so many (default: all)" },
    output: { type: "string", short: "o", value: "<file>", about: "default: stdout" },
  },
  completes: ["sessions"],
  async run({ words, values, daemon, terminal }) {
    const id = need(words, 0, "the session");
    const limit = text(values, "limit");
    const { http } = await daemon();
    const answer = await http.open("GET", `/v1/sessions/${encodeURIComponent(id)}/native`, {
      query: {
        after: wholeNumber(text(values, "after"), "after", 0),
        ...(limit === undefined ? {} : { limit: wholeNumber(limit, "limit", 0) }),
      },
    });
    await save(answer, text(values, "output"), terminal);
    return EXIT.ok;
  },
};

/** The body of an answer into a file only its owner can read, or to stdout at the reader's pace. */
export async function save(answer: Response, file: string | undefined, terminal: Terminal): Promise<void> {
  const [{ Readable, Writable }, { pipeline }] = await Promise.all([import("node:stream"), import("node:stream/promises")]);
  const target = file
    ? createWriteStream(file, { mode: 0o600 })
    : new Writable({ write: (chunk: Buffer, _, done) => terminal.stdout.writeBytes(chunk, done) });
  await pipeline(Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]), target);
}
