import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ShortItem } from "../openresponses/test-endpoint.ts";
import { seedOf } from "../test-seed.ts";
import { balanceFault } from "./input-items.ts";
import { readJournal } from "./journal-file.ts";
import { recordedTools } from "./recorded-tools.ts";
import { recordsOf } from "./records.ts";
import { replay } from "./replay.ts";
import type { CrashOrder } from "./test-crash-child.ts";
import { bodyOf, startModel } from "./test-loop.ts";

const SEED = seedOf(20_261_116);
/** How many kills; all points of the journal with a large number. */
const ROUNDS = Number(process.env.DRAGOMAN_KILL_ROUNDS ?? 12);

const PATCH = `*** Begin Patch
*** Update File: a.txt
-a 0
+a 1
*** Update File: b.txt
*** Move to: moved/b.txt
-b 0
+b 1
*** Add File: c.txt
+c 1
*** Delete File: d.txt
*** End Patch`;

/** One call of each kind, in an order that the conversation itself gives. */
const CALLS: readonly (readonly ShortItem[])[] = [
  [{ call: "bash", args: { command: "echo run >> ran-1; echo done" } }],
  [{ call: "edit", args: { path: "e.txt", edits: [{ old: "count 0", new: "count 1" }] } }],
  [{ call: "apply_patch", args: { patch: PATCH } }],
  [
    { call: "write", args: { path: "w/new.txt", content: "written\n" } },
    { call: "read", args: { path: "w/new.txt" } },
    { call: "bash", args: { command: "echo run >> ran-2" } },
  ],
  [
    { call: "grep", args: { pattern: "count" } },
    { call: "ls", args: {} },
  ],
  [{ call: "skill", args: { name: "style" } }],
  [{ call: "agent", args: { prompt: "Help." } }],
  [{ call: "plan", args: { entries: [{ text: "end", status: "completed" }] } }],
];

const EXPECTED: Record<string, string> = {
  "e.txt": "count 1\n",
  "a.txt": "a 1\n",
  "moved/b.txt": "b 1\n",
  "c.txt": "c 1\n",
  "w/new.txt": "written\n",
};

let home = "";
let model: Awaited<ReturnType<typeof startModel>>;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "dragoman-kill-"));
  await build({
    configFile: false,
    logLevel: "error",
    ssr: { noExternal: true },
    build: {
      ssr: fileURLToPath(new URL("./test-crash-child.ts", import.meta.url)),
      outDir: join(home, "child"),
      target: "node20",
      minify: false,
      rolldownOptions: { output: { entryFileNames: "child.mjs" } },
    },
  });
  model = await startModel((body) => {
    const answers = (body.input as { type?: string; call_id?: string }[]).filter((item) => item.type === "function_call");
    let left = answers.length;
    for (const calls of CALLS) {
      if (left === 0) return calls;
      left -= calls.length;
    }
    return [{ text: "all done" }];
  });
});
afterAll(async () => {
  await model.close();
  rmSync(home, { recursive: true, force: true });
});

interface Run {
  readonly signal: string | null;
  readonly output: string;
}

function run(order: CrashOrder): Promise<Run> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(home, "child", "child.mjs"), JSON.stringify(order)], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    child.stdout.on("data", (chunk) => {
      output += chunk;
    });
    child.stderr.on("data", (chunk) => {
      output += chunk;
    });
    child.once("close", (_code, signal) => resolve({ signal, output }));
  });
}

let nth = 0;
async function prepared(): Promise<Omit<CrashOrder, "kill">> {
  nth += 1;
  const directory = join(home, `work-${nth}`);
  await mkdir(directory, { recursive: true });
  for (const [name, content] of Object.entries({ "e.txt": "count 0\n", "a.txt": "a 0\n", "b.txt": "b 0\n", "d.txt": "d\n" })) {
    await writeFile(join(directory, name), content);
  }
  return { directory, data: join(home, `data-${nth}`), baseUrl: model.baseUrl };
}

const linesOf = (path: string): number => {
  try {
    return readFileSync(path, "utf8").split("\n").length - 1;
  } catch {
    return 0;
  }
};

/** Everything was done once, or the model was informed that it is not known. */
async function check(order: Omit<CrashOrder, "kill">, where: string): Promise<void> {
  const records = await readJournal(join(order.data, "journal"));
  expect(recordsOf(records, "turn.ended").at(-1), where).toMatchObject({ reason: "end_turn" });
  for (const [name, content] of Object.entries(EXPECTED)) {
    expect(await readFile(join(order.directory, name), "utf8"), `${where}: ${name}`).toBe(content);
  }
  expect(linesOf(join(order.directory, "b.txt")) + linesOf(join(order.directory, "d.txt")), where).toBe(0);
  const unknown = recordsOf(records, "call.finished").filter((record) => record.note === "state_unknown");
  for (const file of ["ran-1", "ran-2", "ran-3"]) {
    const times = linesOf(join(order.directory, file));
    expect(times, `${where}: ${file}`).toBeLessThanOrEqual(1);
    if (times === 0) expect(unknown.length, `${where}: ${file} did not run and nobody was told`).toBeGreaterThan(0);
  }
  const names = new Map(recordsOf(records, "call.accepted").map((record) => [record.call, record.name]));
  for (const ended of recordsOf(records, "call.finished")) {
    const name = names.get(ended.call);
    if (name !== "bash" && name !== "agent") expect(ended.is_error, `${where}: ${name} ${String(ended.output)}`).toBe(false);
  }
  const { readdir } = await import("node:fs/promises");
  const left = (await readdir(order.directory, { recursive: true })).filter((name) => name.endsWith(".tmp"));
  expect(left, where).toEqual([]);
  const report = await replay(records, { registry: recordedTools(records), directory: order.directory });
  expect(report.differentRequests, `${where}: replay`).toEqual([]);
}

async function clean(order: Omit<CrashOrder, "kill">): Promise<void> {
  await rm(order.directory, { recursive: true, force: true });
  await rm(order.data, { recursive: true, force: true });
}

function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe("kill -9", () => {
  it(
    `at ${ROUNDS} points of the journal and of file changes: nothing happens twice, the turn goes on (seed ${SEED})`,
    async () => {
      const whole = await prepared();
      const first = await run({ ...whole, kill: null });
      const { ended, counts } = JSON.parse(first.output) as {
        ended: string;
        counts: Record<"append" | "written" | "durable" | "blob", number>;
      };
      expect(ended).toBe("end_turn");
      await check(whole, "without a kill");
      await clean(whole);
      const points = (["append", "written", "durable", "blob"] as const).flatMap((at) =>
        Array.from({ length: counts[at] }, (_, index) => ({ at, nth: index + 1 })),
      );
      const next = random(SEED);
      // Few rounds: at random. Many: every point, then at random again, each time with more kills of the process that recovers.
      const rounds = Array.from({ length: ROUNDS }, (_, at) =>
        ROUNDS >= points.length && at < points.length ? points[at] : points[Math.floor(next() * points.length)],
      );
      let kills = 0;
      for (const [at, kill] of rounds.entries()) {
        if (kill === undefined) continue;
        const order = await prepared();
        const where = `round ${at}, ${kill.at} ${kill.nth}`;
        let result = await run({ ...order, kill });
        // The recovery itself dies, too.
        for (let again = 0; again < at % 3 && result.signal === "SIGKILL"; again += 1) {
          kills += 1;
          result = await run({ ...order, kill: { at: "append", nth: 1 + Math.floor(next() * 12) } });
        }
        if (result.signal === "SIGKILL") {
          kills += 1;
          result = await run({ ...order, kill: null });
        }
        expect(result.signal, `${where}: ${result.output}`).toBeNull();
        await check(order, where);
        await clean(order);
      }
      expect(kills).toBeGreaterThanOrEqual(Math.floor(ROUNDS / 2));
      for (const request of model.requests) expect(balanceFault(bodyOf(request).input)).toBeNull();
    },
    Math.max(1_800_000, ROUNDS * 60_000),
  );

  it("a command that kills the daemon is not run again, and the model is told with its output", async () => {
    const asked: string[] = [];
    const deadly = await startModel((body) => {
      const input = body.input as { type?: string; output?: string }[];
      const output = input.find((item) => item.type === "function_call_output");
      if (output === undefined)
        return [{ call: "bash", args: { command: "echo run >> ran-1; echo before; sleep 0.3; kill -9 $PPID" } }];
      asked.push(String(output.output));
      return [{ text: "I see." }];
    });
    const order = { ...(await prepared()), baseUrl: deadly.baseUrl };
    expect((await run({ ...order, kill: null })).signal).toBe("SIGKILL");
    const second = await run({ ...order, kill: null });
    expect(second).toMatchObject({ signal: null, output: expect.stringContaining("end_turn") });
    expect(linesOf(join(order.directory, "ran-1"))).toBe(1);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain("The daemon was restarted while this ran");
    expect(asked[0]).toContain("before");
    await clean(order);
    await deadly.close();
  });
});
