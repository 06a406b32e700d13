/** For tests only: a process that runs one turn with real files and commands, goes on after a crash, and kills itself at a given point. */
import { randomUUID } from "node:crypto";
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { ResponsesClient } from "../openresponses/client.ts";
import { AgentLoop } from "./agent-loop.ts";
import { FileBlobs } from "./blob-files.ts";
import { FileJournal } from "./journal-file.ts";
import type { BlobStore, JournalStore, SkillReader, SubAgent, SubAgents } from "./ports.ts";
import { settingsFor } from "./settings.ts";
import { ShellTasks } from "./shell-tasks.ts";
import { agentTool } from "./tools/agent.ts";
import { baseTools } from "./tools/index.ts";
import { ToolRegistry } from "./tools/registry.ts";
import { skillTool } from "./tools/skill.ts";

export interface CrashOrder {
  readonly directory: string;
  readonly data: string;
  readonly baseUrl: string;
  /** Null to live. `append`: the nth record is never written. `written`, `durable`: right after the nth write or sync. `blob`: before the nth look into the blobs. */
  readonly kill: { readonly at: "append" | "written" | "durable" | "blob"; readonly nth: number } | null;
}

const counts = { append: 0, written: 0, durable: 0, blob: 0 };

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
  written: () => {
    inner.written();
    pass(order, "written");
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

const SKILLS: SkillReader = {
  offered: [{ name: "style", description: "How to write", allowed: [], project: false }],
  load: async (name) => ({
    ...{ name, path: "/skills/style/SKILL.md", directory: "/skills/style", digest: "sha256:1", allowed: [] },
    text: "Write plain sentences.",
  }),
};

/** Children that outlive this process: each is a file, and every start of one is a line. */
function fileSubAgents(order: CrashOrder): SubAgents {
  const path = (call: string): string => `${order.data}/child-${encodeURIComponent(call)}`;
  const end = { text: "The child is done.", usage: null, fault: null };
  const child = (call: string): SubAgent => ({
    session_id: `child_${call}`,
    run: async () => end,
    goOn: async () => end,
    end: async () => {},
  });
  return {
    agents: ["child"],
    open: async ({ call }) => {
      writeFileSync(path(call), "");
      appendFileSync(`${order.directory}/ran-3`, "run\n");
      return child(call);
    },
    find: async (call) => (existsSync(path(call)) ? child(call) : null),
  };
}

export async function runOrder(order: CrashOrder): Promise<void> {
  const journal = await FileJournal.open(`${order.data}/journal`);
  const registry = new ToolRegistry([...baseTools(), skillTool(SKILLS), agentTool(fileSubAgents(order))]);
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
