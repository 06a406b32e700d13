// Data directories that former versions left behind when they were killed in the middle of a turn: everything in them is read as it was, and the work goes on.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import type { UniversalEvent } from "../../src/schema/event.ts";
import { type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "../daemon-process.ts";

type RecordedSession = { id: string; events: UniversalEvent[]; items: { item_id: string }[] };
type Recorded = { files: { path: string; bytes: number }[]; sessions: Record<"Told" | "Ended" | "Waiting", RecordedSession> };

const dirs: string[] = [];
const daemons: DaemonProcess[] = [];
afterEach(async () => {
  for (const daemon of daemons.splice(0)) await daemon.kill("SIGTERM");
  for (const dir of dirs.splice(0)) removeDir(dir);
});

/** A line of JSON that names the files and what the former daemon had answered, then the files' bytes. */
function unpack(name: string, dataDir: string): Recorded["sessions"] {
  const all = brotliDecompressSync(readFileSync(fileURLToPath(new URL(name, import.meta.url))));
  const end = all.indexOf(10);
  const { files, sessions } = JSON.parse(all.toString("utf8", 0, end)) as Recorded;
  let at = end + 1;
  for (const { path, bytes } of files) {
    mkdirSync(dirname(join(dataDir, path)), { recursive: true });
    writeFileSync(join(dataDir, path), all.subarray(at, at + bytes));
    at += bytes;
  }
  return sessions;
}

async function eventsOf({ url, token }: DaemonProcess, id: string): Promise<UniversalEvent[]> {
  const reply = await fetch(`${url}/v1/sessions/${id}/events?limit=10000&include_raw=true`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const { events, has_more } = (await reply.json()) as { events: UniversalEvent[]; has_more: boolean };
  expect(has_more).toBe(false);
  return events;
}

describe.each(["version-1.br", "version-2.br"])("a data directory of %s", (name) => {
  it("is read as it was, and the message that waited is answered", async () => {
    const dataDir = temporaryDir("upgrade");
    dirs.push(dataDir);
    const { Told, Ended, Waiting } = unpack(name, dataDir);
    const daemon = await startDaemonProcess(dataDir);
    daemons.push(daemon);
    expect(readdirSync(join(dataDir, "backups"))).toEqual([expect.stringMatching(/^dragoman-v\d-/)]);
    for (const { id, events, items } of [Told, Ended]) {
      expect((await eventsOf(daemon, id)).slice(0, events.length)).toEqual(events);
      const page = await daemon.client.session(id).items({ limit: 1000 });
      expect(page.items.map(({ item_id }) => item_id)).toEqual(items.map(({ item_id }) => item_id));
    }
    // The turn that was cut off has an end, and the message behind it has had its turn.
    const waiting = daemon.client.session(Waiting.id);
    const after: UniversalEvent[] = [];
    for await (const event of waiting.events({ after: Waiting.events.length })) {
      after.push(event);
      if (after.filter(({ type }) => type === "turn.ended").length === 2) break;
    }
    expect((await eventsOf(daemon, Waiting.id)).slice(0, Waiting.events.length)).toEqual(Waiting.events);
    expect(JSON.stringify(after)).toContain("after the upgrade");
    expect((await waiting.get()).pending).toEqual({ permissions: 0, questions: 0 });
    // Sessions go on, with what the agent itself had kept.
    const told = daemon.client.session(Told.id);
    expect((await told.prompt("say on we go")).stop_reason).toBe("end_turn");
    expect((await told.get()).last_sequence).toBeGreaterThan(Told.events.length);
  });
});
