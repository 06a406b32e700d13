// `npm run build && node bench/checkpoints.mjs`: checkpoints of 50,000 files, in a git repository and without one: the first, the next with watches, the next by scan,
// a rewind and its undo. Beside it, in the same run, what `git status` alone needs. Options: --files=<n>, --json.
import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closeCheckpoints, openCheckpoints } from "../build/workspace/checkpoints/index.js";

const files = Number(process.argv.find((each) => each.startsWith("--files="))?.slice(8) ?? 50_000);
const asJson = process.argv.includes("--json");
const base = mkdtempSync(join(tmpdir(), "dragoman-checkpoints-"));
const rows = [];
const row = (name, values) => {
  rows.push({ name, ...values });
  if (!asJson)
    process.stdout.write(
      `${name}: ${Object.entries(values)
        .map(([key, value]) => `${key} ${typeof value === "number" ? value.toFixed(2) : value}`)
        .join(" · ")}\n`,
    );
};

/** 11 files a directory, 0.6 to 10.4 kB each, always the same. */
function plant(root) {
  let seed = 1;
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff;
    return seed / 0x7fffffff;
  };
  const words = Array.from({ length: 500 }, (_, n) => `word${(n * 7919) % 1000} `);
  const paths = [];
  for (let n = 0; n < files; n++) {
    const directory = join(root, `package${Math.floor(n / 1078)}`, `module${Math.floor(n / 11) % 98}`);
    if (n % 11 === 0) mkdirSync(directory, { recursive: true });
    let text = `// file ${n}\n`;
    const length = 600 + random() * 9_800;
    while (text.length < length) text += `${words[Math.floor(random() * 500)]}${words[Math.floor(random() * 500)]}\n`;
    const path = join(directory, `file${n % 11}.ts`);
    writeFileSync(path, text);
    paths.push(path);
  }
  return paths;
}

const bytes = (path) => {
  const stat = statSync(path);
  return stat.isDirectory() ? readdirSync(path).reduce((sum, name) => sum + bytes(join(path, name)), 0) : stat.size;
};
/** Processor time of this process and of the children that have ended, in milliseconds. */
const processor = () => {
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1].split(" ");
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 + (Number(fields[13]) + Number(fields[14])) * 10;
};
async function measured(work) {
  const [wall, cpu] = [performance.now(), processor()];
  const result = await work();
  return { wall_ms: performance.now() - wall, cpu_ms: processor() - cpu, result };
}
const middle = (numbers, share = 0.5) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length * share)];

async function run(name, root, paths) {
  const stores = join(base, `stores-${name}`);
  const first = await measured(async () => {
    const checkpoints = await openCheckpoints(root, stores);
    return { checkpoints, taken: await checkpoints.take({ kind: "turn_start", session_id: "bench" }) };
  });
  const { checkpoints, taken } = first.result;
  row(`${name}: first`, {
    wall_ms: first.wall_ms,
    cpu_ms: first.cpu_ms,
    entries: taken.counts.entries,
    disk_MB: bytes(stores) / 1e6,
  });
  row(`${name}: watches`, {
    directories: checkpoints.usage().watched_directories,
    failure: String(checkpoints.usage().watch_failure),
  });
  for (const [way, full, rounds] of [
    ["watch", false, 60],
    ["scan", true, 7],
  ]) {
    const [walls, cpus] = [[], []];
    for (let round = 0; round < rounds; round++) {
      for (let n = 0; n < 3; n++)
        appendFileSync(paths[(round * 997 + n * 13_331 + (full ? 7 : 0)) % paths.length], `// round ${round} ${way}\n`);
      await new Promise((resolve) => setTimeout(resolve, 60));
      const next = await measured(() => checkpoints.take({ kind: "after_tool", full }));
      if (next.result.counts.modified !== 3 || next.result.timings.way !== way)
        throw new Error(`${name} ${way}: ${JSON.stringify(next.result)}`);
      walls.push(next.wall_ms);
      cpus.push(next.cpu_ms);
    }
    row(`${name}: next by ${way}, 3 changed`, {
      wall_p50_ms: middle(walls),
      wall_p95_ms: middle(walls, 0.95),
      cpu_p50_ms: middle(cpus),
    });
  }
  const back = await measured(() => checkpoints.rewind(taken.id));
  row(`${name}: rewind`, {
    files: back.result.files.length,
    kept: back.result.kept.length,
    wall_ms: back.wall_ms,
    cpu_ms: back.cpu_ms,
  });
  const undone = await measured(() => checkpoints.rewind(back.result.undo_id));
  row(`${name}: undo of the rewind`, {
    files: undone.result.files.length,
    kept: undone.result.kept.length,
    wall_ms: undone.wall_ms,
    cpu_ms: undone.cpu_ms,
  });
  row(`${name}: at the end`, { disk_MB: bytes(stores) / 1e6, rss_MB: process.memoryUsage().rss / 1e6 });
  await closeCheckpoints(checkpoints);
}

try {
  const root = join(base, "tree");
  const paths = plant(root);
  await run("without git", root, paths);
  const git = (...args) =>
    execFileSync("git", ["-c", "user.name=bench", "-c", "user.email=bench@example.org", "-c", "gc.auto=0", ...args], {
      cwd: root,
    });
  git("init", "-q");
  git("add", "-A");
  git("commit", "-qm", "all");
  await run("git", root, paths);
  const status = await measured(async () => spawnSync("git", ["status", "--porcelain"], { cwd: root }));
  row("git status alone", { wall_ms: status.wall_ms, cpu_ms: status.cpu_ms });
  if (asJson) process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
} finally {
  rmSync(base, { recursive: true, force: true });
}
