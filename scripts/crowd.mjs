// Twenty sessions of one real agent at once, then `kill -9` of the daemon in mid-turn, then the next message: what no single scenario can show.
//   node scripts/crowd.mjs claude|codex|opencode [--sessions=20]
// Needs the pinned agents (npm run conformance -- --install-only). Talks to the scripted model server on loopback only.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { Dragoman } from "../build/client/dragoman.js";
import { commandVariable } from "../build/daemon/agent-host.js";
import { startModelServer } from "../build/verify/model-server/index.js";
import { pinnedAgents } from "../build/verify/pinned.js";
import { verifyProfiles } from "../build/verify/profiles.js";
import { promptFor } from "../build/verify/scenario/index.js";
import { startDaemon, stopped } from "./daemon.mjs";

const [agent = pinnedAgents[0].agent] = process.argv.slice(2).filter((word) => !word.startsWith("-"));
const count = Number(/--sessions=(\d+)/.exec(process.argv.join(" "))?.[1] ?? 20);
const pinned = pinnedAgents.find((each) => each.agent === agent);
const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "dragoman-conformance");
const command = join(cache, `${agent}-${pinned.version}`, "node_modules", pinned.program);
const root = mkdtempSync(join(tmpdir(), "dragoman-crowd-"));
const home = join(root, "home");
mkdirSync(home);

const say = (text) => ({ blocks: [{ type: "text", text, chunks: 4 }] });
const slow = { ...say("This answer takes its time and is cut."), chunk_delay_ms: 2_000 };
const scenario = {
  name: "crowd",
  title: "a crowd",
  turns: [
    { prompt: "First.", steps: [say("Answer one.")] },
    { prompt: "Second.", steps: [slow] },
    { prompt: "Third.", steps: [say("Answer three.")] },
  ],
};
const model = await startModelServer({ scenarios: [scenario], default: "crowd" });
const place = { home, modelUrl: model.url, root, work: root, port: model.port };
const profile = verifyProfiles.get(agent);
const { env } = await profile.setUp(place);
const own = join(root, "own");
mkdirSync(own);
/** The same for all, so that an agent whose sessions can share a process does so. */
const settings = { model: profile.models.first, ...(await profile.forScenario?.(scenario, { ...place, directory: root, own })) };
const prompt = (turn) => promptFor(scenario, turn, root);

const start = async () => {
  const agentEnv = { PATH: process.env.PATH, HOME: home, ...env, [commandVariable(agent)]: command };
  const { url, token, ...daemon } = await startDaemon(join(root, "data"), { env: agentEnv, cwd: root });
  return { ...daemon, dragoman: new Dragoman({ url, token }) };
};

const rssMb = (pid) => Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024);
/** Processes that run in this crowd's home. */
const agentsRunning = () =>
  readdirSync("/proc").filter((pid) => {
    try {
      return (
        /^\d+$/.test(pid) &&
        readFileSync(`/proc/${pid}/environ`, "utf8").includes(home) &&
        !readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("cli/main.js")
      );
    } catch {
      return false;
    }
  }).length;

const failures = [];
const expect = (what, ok) => {
  console.log(`${ok ? "ok  " : "FAIL"} ${what}`);
  if (!ok) failures.push(what);
};

let daemon = await start();
const ids = [];
for (let i = 0; i < count; i++) {
  const directory = join(root, `work-${i}`);
  mkdirSync(directory);
  ids.push((await daemon.dragoman.createSession({ agent, directory, ...settings })).id);
}
const began = performance.now();
const first = await Promise.all(ids.map((id) => daemon.dragoman.session(id).prompt(prompt(0))));
expect(
  `${count} sessions answered at once in ${Math.round((performance.now() - began) / 1000)} s`,
  first.every(({ text, stop_reason }) => stop_reason === "end_turn" && text.includes("Answer one.")),
);
console.log(`     ${agentsRunning()} processes of the agent, daemon RSS ${rssMb(daemon.pid)} MB`);

await Promise.all(ids.map((id) => daemon.dragoman.session(id).send(prompt(1))));
await Promise.all(
  ids.map(async (id) => {
    for await (const event of daemon.dragoman.session(id).events())
      if (event.type === "item.delta" && event.data.delta.includes("This")) break;
  }),
);
await stopped(daemon.child, "SIGKILL");
daemon = await start();
expect("no process of the killed daemon's agents is left", agentsRunning() === 0);
const third = await Promise.all(ids.map((id) => daemon.dragoman.session(id).prompt(prompt(2))));
expect(
  "every session goes on after kill -9 of the daemon",
  third.every(({ text, stop_reason }) => stop_reason === "end_turn" && text.includes("Answer three.")),
);
const saw = model.requests.filter(({ position }) => position?.turn === 2);
expect(
  "the model sees the history",
  saw.length >= count &&
    saw.every(({ history }) => history.some(({ role, text }) => role === "assistant" && text.includes("Answer one."))),
);
const unparsed = await Promise.all(ids.map(async (id) => (await daemon.dragoman.session(id).coverage()).totals.unparsed));
expect(
  "nothing unparsed",
  unparsed.every((each) => each === 0),
);
await Promise.all(ids.map((id) => daemon.dragoman.session(id).terminate()));
await stopped(daemon.child);
expect("no process is left at the end", agentsRunning() === 0);
await model.close();
rmSync(root, { recursive: true, force: true });
process.exit(failures.length > 0 ? 1 : 0);
