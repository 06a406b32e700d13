/** For tests only: a process that runs one turn with real files and commands, goes on after a crash, and kills itself at a point it is told. */
import { randomUUID } from "node:crypto";
import { ResponsesClient } from "../openresponses/client.ts";
import { AgentLoop } from "./agent-loop.ts";
import { FileBlobs } from "./blob-files.ts";
import { FileJournal } from "./journal-file.ts";
import type { BlobStore, JournalStore } from "./ports.ts";
import { settingsFor } from "./settings.ts";
import { ShellTasks } from "./shell-tasks.ts";
import { baseTools } from "./tools/index.ts";
import { ToolRegistry } from "./tools/registry.ts";

export interface CrashOrder {
  readonly directory: string;
  readonly data: string;
  readonly baseUrl: string;
  /** Null to live. `append`: the nth record is never written. `durable`: right after the nth sync. `blob`: before the nth look into the blobs. */
  readonly kill: { readonly at: "append" | "durable" | "blob"; readonly nth: number } | null;
}

const counts = { append: 0, durable: 0, blob: 0 };

function pass(order: CrashOrder, at: keyof typeof counts): void {
  counts[at] += 1;
  if (order.kill?.at === at && order.kill.nth === counts[at]) {
    process.kill(process.pid, "SIGKILL");
    // The signal may take a moment: nothing may happen in it.
    for (;;);
  }
}

const watchedJournal = (order: CrashOrder, inner: FileJournal): JournalStore => ({
  append: (record) => {
    pass(order, "append");
    inner.append(record);
  },
  durable: async () => {
    await inner.durable();
    pass(order, "durable");
  },
  read: () => inner.read(),
});

const watchedBlobs = (order: CrashOrder, inner: BlobStore): BlobStore => ({
  put: (bytes) => inner.put(bytes),
  get: (digest) => {
    pass(order, "blob");
    return inner.get(digest);
  },
});

export async function runOrder(order: CrashOrder): Promise<void> {
  const journal = await FileJournal.open(`${order.data}/journal`);
  const registry = new ToolRegistry(baseTools());
  const client = new ResponsesClient({ baseUrl: order.baseUrl });
  const idsPort = { next: (kind: string) => `${kind}_${randomUUID()}` };
  const loop = await AgentLoop.open({
    sessionId: "session_crash",
    settings: settingsFor({ model: "m", instructions: "Test.", tools: registry.definitions(false) }),
    directory: order.directory,
    journal: watchedJournal(order, journal),
    blobs: watchedBlobs(order, new FileBlobs(`${order.data}/blobs`)),
    clock: { now: () => Date.now() },
    ids: idsPort,
    transport: { stream: (body, _request, handlers) => client.stream(body, handlers) },
    registry,
    policy: { decide: () => ({ decision: "allow", reason: "test" }) },
    asker: { ask: () => Promise.reject(new Error("nobody is asked here")) },
    tasks: new ShellTasks({ ids: idsPort }),
    retry: { retries: 5, baseMs: 1, maxMs: 1, random: () => 1 },
  });
  if (loop.state.lastEnd === null) await (loop.resume() ?? loop.prompt("do it all"));
  await loop.close();
  await journal.close();
  process.stdout.write(`${JSON.stringify({ ended: loop.state.lastEnd?.reason, counts })}\n`);
}

if (process.argv[2] !== undefined) await runOrder(JSON.parse(process.argv[2]) as CrashOrder);
