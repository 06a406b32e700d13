/** What a killed process and a damaged store leave behind. The killed process runs from `dist`, so build first. */
import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { seedOf } from "../../test-seed.ts";
import { bash, differences, random, snapshot, temporary } from "../test-trees.ts";
import { closeCheckpoints, openCheckpoints } from "./index.ts";

const FILES = 1_500;
const library = pathToFileURL(join(process.cwd(), "build/workspace/checkpoints/index.js")).href;
let place: ReturnType<typeof temporary>;
let stores: ReturnType<typeof temporary>;
let child: ChildProcess | null = null;

beforeEach(() => {
  place = temporary("crash");
  stores = temporary("stores");
});
afterEach(() => {
  child?.kill("SIGKILL");
  place.remove();
  stores.remove();
});

const name = (n: number) => `f${String(n).padStart(5, "0")}`;
const ended = (process: ChildProcess) => new Promise<void>((resolve) => process.once("exit", () => resolve()));
const storeFolder = () => join(stores.path, readdirSync(stores.path)[0]!);

it("finishes a rewind whose process was killed in the middle, and the result can still be undone", async () => {
  for (let n = 0; n < FILES; n++) writeFileSync(join(place.path, name(n)), `before ${n}\n`.repeat(20));
  const first = await openCheckpoints(place.path, stores.path);
  const { id } = await first.take({ kind: "turn_start", session_id: "s" });
  const before = snapshot(place.path);
  bash(
    place.path,
    "for f in f0*; do echo after > $f; done; mkdir new; echo x > new/x; rm f01499; mkdir f01499; echo in > f01499/in",
  );
  await first.take({ kind: "turn_end", session_id: "s" });
  const after = snapshot(place.path);
  await closeCheckpoints(first);

  const script = `const { openCheckpoints } = await import(${JSON.stringify(library)});
    const checkpoints = await openCheckpoints(${JSON.stringify(place.path)}, ${JSON.stringify(stores.path)});
    await checkpoints.rewind(${JSON.stringify(id)});`;
  child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["ignore", "inherit", "inherit"] });
  const gone = ended(child);
  const begun = join(place.path, name(100));
  while (child.exitCode === null && readFileSync(begun, "utf8") === "after\n")
    await new Promise((resolve) => setImmediate(resolve));
  child.kill("SIGKILL");
  await gone;
  const between = snapshot(place.path);
  // It really was in the middle.
  expect(differences(before, between)).not.toEqual([]);
  expect(differences(after, between)).not.toEqual([]);

  const again = await openCheckpoints(place.path, stores.path);
  expect(differences(before, snapshot(place.path))).toEqual([]);
  expect(again.list().map(({ kind }) => kind)).toEqual(["turn_start", "turn_end", "rewind"]);
  const undone = await again.rewind(again.list()[1]!.id);
  expect(undone.kept).toEqual([]);
  expect(differences(after, snapshot(place.path))).toEqual([]);
  await closeCheckpoints(again);
});

it("has every checkpoint that it answered with, whenever it is killed", async () => {
  const chance = random(seedOf(91));
  const script = `import { writeFileSync } from "node:fs";
    const { openCheckpoints } = await import(${JSON.stringify(library)});
    const checkpoints = await openCheckpoints(${JSON.stringify(place.path)}, ${JSON.stringify(stores.path)}, { quota_bytes: 300_000 });
    for (let n = 0; ; n++) {
      writeFileSync(${JSON.stringify(join(place.path, "f"))} + (n % 3), process.pid + " " + n + " ".repeat(5000));
      const { id } = await checkpoints.take({ kind: "after_tool" });
      process.stdout.write(JSON.stringify({ id, name: "f" + (n % 3), text: process.pid + " " + n }) + "\\n");
    }`;
  for (let round = 0; round < 6; round++) {
    const killed = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["ignore", "pipe", "inherit"] });
    child = killed;
    const gone = ended(killed);
    let said = "";
    const wanted = 1 + Math.floor(chance() * 120);
    await new Promise<void>((resolve) => {
      killed.once("exit", () => resolve());
      killed.stdout.on("data", (chunk: Buffer) => {
        said += chunk.toString();
        if (said.split("\n").length > wanted) resolve();
      });
    });
    killed.kill("SIGKILL");
    await gone;
    const answered = said
      .split("\n")
      .filter((line) => line.endsWith("}"))
      .map((line): { id: string; name: string; text: string } => JSON.parse(line));
    expect(answered.length).toBeGreaterThanOrEqual(wanted);
    const again = await openCheckpoints(place.path, stores.path);
    expect(again.usage().warning).toBeNull();
    const listed = again.list().map(({ id }) => id);
    const last = answered.at(-1)!;
    expect(listed).toContain(last.id);
    // Old ones went by the quota, and then all that were older too.
    const first = answered.findIndex(({ id }) => listed.includes(id));
    for (const { id, name, text } of answered.slice(first))
      expect((await again.contentAt(id, name))?.toString().trim()).toBe(text);
    await closeCheckpoints(again);
  }
});

it("keeps what somebody changed between the crash and the next start", async () => {
  for (const each of ["a", "b", "c"]) writeFileSync(join(place.path, each), "before");
  const first = await openCheckpoints(place.path, stores.path);
  const { id } = await first.take({ kind: "turn_start", session_id: "s" });
  for (const each of ["a", "b", "c"]) writeFileSync(join(place.path, each), "after");
  await first.take({ kind: "turn_end", session_id: "s" });
  await closeCheckpoints(first);
  const manifest = readFileSync(join(storeFolder(), "manifest"));
  const second = await openCheckpoints(place.path, stores.path);
  await second.rewind(id);
  await closeCheckpoints(second);
  writeFileSync(join(storeFolder(), "manifest"), manifest);
  // As if the process had ended after the first file: the end of the rewind is not in the journal.
  const journal = join(storeFolder(), "journal");
  const lines = readFileSync(journal, "utf8").split("\n");
  writeFileSync(journal, `${lines.slice(0, lines.findIndex((line) => line.includes('"k":"rewind"')) + 1).join("\n")}\n`);
  writeFileSync(join(place.path, "a"), "before");
  writeFileSync(join(place.path, "b"), "after");
  writeFileSync(join(place.path, "c"), "written by a person");
  writeFileSync(join(place.path, `.dragoman-rewind-${/"k":"rewind","id":"([^"]+)"/.exec(lines.join("\n"))![1]}-7`), "half");
  const again = await openCheckpoints(place.path, stores.path);
  expect(["a", "b", "c"].map((each) => readFileSync(join(place.path, each), "utf8"))).toEqual([
    "before",
    "before",
    "written by a person",
  ]);
  expect(readdirSync(place.path).sort()).toEqual(["a", "b", "c"]);
  await closeCheckpoints(again);
});

it("cuts off a torn record, and goes on", async () => {
  writeFileSync(join(place.path, "a"), "1");
  const first = await openCheckpoints(place.path, stores.path);
  const one = await first.take({ kind: "manual" });
  writeFileSync(join(place.path, "a"), "2");
  await first.take({ kind: "manual" });
  await closeCheckpoints(first);
  appendFileSync(join(storeFolder(), "journal"), '0123456789abcdef {"k":"checkpo');
  const again = await openCheckpoints(place.path, stores.path);
  expect(again.list().length).toBe(2);
  writeFileSync(join(place.path, "a"), "3");
  expect((await again.take({ kind: "manual" })).created).toBe(true);
  await again.rewind(one.id, { force: true });
  expect(readFileSync(join(place.path, "a"), "utf8")).toBe("1");
  await closeCheckpoints(again);
});

it("begins anew when the manifest is damaged, and keeps the damaged store aside", async () => {
  writeFileSync(join(place.path, "a"), "1");
  const first = await openCheckpoints(place.path, stores.path);
  await first.take({ kind: "manual" });
  await closeCheckpoints(first);
  const manifest = join(storeFolder(), "manifest");
  truncateSync(manifest, statSync(manifest).size - 1);
  const again = await openCheckpoints(place.path, stores.path);
  expect(again.usage().warning).toContain("damaged");
  expect(again.list()).toEqual([]);
  expect((await again.take({ kind: "manual" })).created).toBe(true);
  await closeCheckpoints(again);
  expect(readdirSync(stores.path).some((each) => each.endsWith(".damaged"))).toBe(true);
});

it("never writes damaged content back", async () => {
  mkdirSync(join(place.path, "d"));
  writeFileSync(join(place.path, "d/a"), "content that will be damaged");
  writeFileSync(join(place.path, "d/b"), "fine");
  const first = await openCheckpoints(place.path, stores.path);
  const { id } = await first.take({ kind: "turn_start", session_id: "s" });
  bash(place.path, "echo other > d/a; rm d/b");
  await first.take({ kind: "turn_end", session_id: "s" });
  await closeCheckpoints(first);
  const packs = join(storeFolder(), "packs");
  const pack = join(packs, readdirSync(packs)[0]!);
  const bytes = readFileSync(pack);
  const at = bytes.indexOf("will be damaged");
  bytes[at] = 0;
  writeFileSync(pack, bytes);
  const again = await openCheckpoints(place.path, stores.path);
  const rewound = await again.rewind(id);
  expect(rewound.kept).toMatchObject([{ path: "d/a", reason: "content_unavailable" }]);
  expect(readFileSync(join(place.path, "d/a"), "utf8")).toBe("other\n");
  expect(existsSync(join(place.path, "d/b"))).toBe(true);
  await closeCheckpoints(again);
});
