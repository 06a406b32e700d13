// How long after the item of a call is done its tool starts: the loop with its real journal on disk and the real `read`, without the daemon around it. Times in ms.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { ResponsesClient } from "../build/openresponses/client.js";
import { AgentLoop } from "../build/runtime/agent-loop.js";
import { FileBlobs } from "../build/runtime/blob-files.js";
import { FileJournal } from "../build/runtime/journal-file.js";
import { settingsFor } from "../build/runtime/settings.js";
import { ShellTasks } from "../build/runtime/shell-tasks.js";
import { baseTools } from "../build/runtime/tools/index.js";
import { ToolRegistry } from "../build/runtime/tools/registry.js";

export async function toolStarts({ baseUrl, directory, data, steps }) {
  const journal = await FileJournal.open(join(data, "journal"));
  const registry = new ToolRegistry(baseTools());
  const client = new ResponsesClient({ baseUrl });
  const ids = { next: (kind) => `${kind}_${randomUUID()}` };
  const waits = [];
  let done = null;
  const loop = await AgentLoop.open({
    sessionId: "session_bench",
    settings: settingsFor({
      model: "m",
      instructions: "Bench.",
      tools: registry.definitions(false),
      limits: { steps: steps + 10 },
    }),
    directory,
    journal,
    blobs: new FileBlobs(join(data, "blobs")),
    clock: { now: () => Date.now() },
    ids,
    transport: { stream: (body, _request, handlers) => client.stream(body, handlers) },
    registry,
    policy: { decide: () => ({ decision: "allow", reason: "bench" }) },
    asker: { ask: () => Promise.reject(new Error("nobody is asked here")) },
    tasks: new ShellTasks({ ids }),
    retry: { retries: 0, baseMs: 1, maxMs: 1, random: () => 1 },
    onFrame: (frame) => {
      if (frame.type === "provider_event" && frame.data?.type === "response.output_item.done") done = performance.now();
      if (frame.type === "tool_started" && done !== null) waits.push(performance.now() - done);
    },
  });
  await loop.prompt(`steps=${steps} deltas=1`);
  await loop.close();
  await journal.close();
  if (waits.length !== steps) throw new Error(`${waits.length} tools started, not ${steps}: ${loop.state.lastEnd?.reason}`);
  return waits;
}
