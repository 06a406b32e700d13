/**
 * Where the time of one event goes: the daemon under `--cpu-prof` while one session streams to one subscriber. Prints the functions that take most time by
 * themselves, and the time of each folder of the source.
 *   node bench/profile.mjs [mock | acp | codex | opencode] [events] [unicode]
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agents } from "./agents.mjs";
import { read } from "./client.mjs";
import { newSession, send, settled, sse, startDaemon } from "./servers.mjs";
import { END } from "./streams.mjs";

const [name = "mock", events = "400000", kind = ""] = process.argv.slice(2);
const agent = agents[name];
if (!agent) throw new Error(`No agent ${name}. There are ${Object.keys(agents).join(", ")}.`);
const folder = mkdtempSync(join(tmpdir(), "dragoman-bench-profile-"));

async function run() {
  const daemon = await startDaemon({ node: ["--cpu-prof", `--cpu-prof-dir=${folder}`], code: "modules" });
  try {
    const id = await newSession(daemon, agent.id);
    for (const count of [Number(events) / 4, Number(events)]) {
      const after = await settled(daemon, id);
      const { seconds } = await read(daemon.pid, [sse(daemon, id, after)], END, () => send(daemon, id, `flood ${count} ${kind}`));
      console.log(
        `${count.toLocaleString("en")} events, ${Math.round(count / seconds).toLocaleString("en")} a second under the profiler`,
      );
    }
  } finally {
    await daemon.stop();
  }
  const [file] = readdirSync(folder);
  return JSON.parse(readFileSync(join(folder, file), "utf8"));
}

/** Microseconds by function and by folder. */
function selfTimes({ nodes, samples, timeDeltas }) {
  const spent = new Map();
  samples.forEach((id, index) => void spent.set(id, (spent.get(id) ?? 0) + timeDeltas[index]));
  const functions = new Map();
  const folders = new Map();
  for (const { id, callFrame } of nodes) {
    const us = spent.get(id) ?? 0;
    if (us === 0 || callFrame.functionName === "(idle)" || callFrame.functionName === "(root)") continue;
    const place = callFrame.url.replace(/^.*\/build\//, "").replace(/^.*\/node_modules\//, "");
    const named = `${callFrame.functionName || "(anonymous)"} ${place ? `${place}:${callFrame.lineNumber + 1}` : ""}`;
    functions.set(named, (functions.get(named) ?? 0) + us);
    const room = callFrame.url.includes("/build/")
      ? place.split("/").slice(0, -1).join("/")
      : place
        ? place.split("/")[0]
        : callFrame.functionName;
    folders.set(room, (folders.get(room) ?? 0) + us);
  }
  return { functions, folders };
}

function print(title, times, most) {
  const sorted = [...times].sort((a, b) => b[1] - a[1]);
  const all = sorted.reduce((sum, [, us]) => sum + us, 0);
  console.log(`\n${title} (${Math.round(all / 1000)} ms without idle time)`);
  for (const [what, us] of sorted.slice(0, most))
    console.log(`${((us / all) * 100).toFixed(1).padStart(5)} %  ${(us / (Number(events) * 1.25)).toFixed(2)} µs  ${what}`);
}

try {
  const { functions, folders } = selfTimes(await run());
  print("by function, itself", functions, 30);
  print("by folder", folders, 15);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
