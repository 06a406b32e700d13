import { appendFile, mkdtemp, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FileBlobs } from "./blob-files.ts";
import { canonicalJson, inputDigest } from "./digest.ts";
import { withFiles } from "./file-queue.ts";
import { balanceFault, CallNamer, inputItems, keptItems } from "./input-items.ts";
import { buildInstructions, readAgentsFiles } from "./instructions.ts";
import { FileJournal, readJournal } from "./journal-file.ts";
import { isLoop } from "./loop-signature.ts";
import type { JournalRecord } from "./records.ts";
import { estimateTokens } from "./token-estimate.ts";

let directory = "";
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "dragoman-journal-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const record = (n: number): JournalRecord => ({
  type: "turn.started",
  time: n,
  turn_id: `turn_${n}`,
  items: [{ text: "é\n🐉" }],
});

describe("FileJournal", () => {
  it("gives back what was written, in order, after it was opened again", async () => {
    const path = join(directory, "a", "journal");
    const journal = await FileJournal.open(path);
    for (let n = 0; n < 50; n += 1) journal.append(record(n));
    await Promise.all([journal.durable(), journal.durable(), journal.durable()]);
    journal.append(record(50));
    await journal.close();
    const again = await FileJournal.open(path);
    expect(await again.read()).toEqual(Array.from({ length: 51 }, (_, n) => record(n)));
    await again.close();
  });

  it("is on disk when durable() has resolved", async () => {
    const path = join(directory, "journal");
    const journal = await FileJournal.open(path);
    for (let n = 0; n < 20; n += 1) {
      journal.append(record(n));
      await journal.durable();
      expect((await readJournal(path)).length).toBe(n + 1);
    }
    await journal.close();
  });

  it("drops a record that a crash cut off, at every byte, and goes on", async () => {
    const path = join(directory, "journal");
    const first = await FileJournal.open(path);
    first.append(record(1));
    first.append(record(2));
    await first.close();
    const whole = await readFile(path);
    const line = whole.indexOf("\n") + 1;
    for (let cut = line; cut < whole.length; cut += 7) {
      await writeFile(path, whole);
      await truncate(path, cut);
      const journal = await FileJournal.open(path);
      journal.append(record(3));
      await journal.close();
      expect(await readJournal(path)).toEqual([record(1), record(3)]);
    }
  });

  it("refuses a damaged line and a record that is none", async () => {
    const path = join(directory, "journal");
    const journal = await FileJournal.open(path);
    journal.append(record(1));
    await journal.close();
    const text = await readFile(path, "utf8");
    await writeFile(path, text.replace("turn_1", "turn_2"));
    await expect(readJournal(path)).rejects.toThrow("Line 1");
    await writeFile(path, text);
    const strange = '{"type":"brand_new","time":1}';
    const { createHash } = await import("node:crypto");
    await appendFile(path, `${createHash("sha256").update(strange).digest("hex").slice(0, 8)} ${strange}\n`);
    await expect(readJournal(path)).rejects.toThrow('unknown record type "brand_new"');
  });
});

describe("FileBlobs", () => {
  it("keeps bytes by digest, twice the same once, and opens nothing else", async () => {
    const blobs = new FileBlobs(directory);
    const digest = await blobs.put(Buffer.from([0, 255, 10]));
    expect(await blobs.put(Buffer.from([0, 255, 10]))).toBe(digest);
    expect(await blobs.get(digest)).toEqual(Buffer.from([0, 255, 10]));
    expect(await blobs.get("../../etc/passwd")).toBeNull();
    expect(await blobs.get("0".repeat(64))).toBeNull();
    await writeFile(join(directory, digest.slice(0, 2), digest), "damaged");
    expect(await blobs.get(digest)).toBeNull();
  });
});

describe("items", () => {
  const endpoint = {
    reasoning: "items",
    tool_choice: false,
    compact: false,
    prompt_cache_key: false,
    images_in_tool_results: false,
  } as const;
  const call = (call_id: string): { type: string; call_id: string; name: string; arguments: string } => ({
    type: "function_call",
    call_id,
    name: "x",
    arguments: "{}",
  });

  it("every call has one output, whatever is missing", () => {
    const entry = {
      kind: "response",
      n: 1,
      attempt: 1,
      items: [call("a"), call("a"), { ...call("b"), type: "custom_tool_call" }],
    } as const;
    const items = inputItems([entry], () => undefined, endpoint);
    expect(balanceFault(items)).toBeNull();
    expect(items.slice(3).map((item) => item.type)).toEqual([
      "function_call_output",
      "function_call_output",
      "custom_tool_call_output",
    ]);
    const namer = new CallNamer(1, 1);
    expect(entry.items.map((item) => namer.name(item)?.key)).toEqual(["1.1.a", "1.1.a#2", "1.1.b"]);
  });

  it("drops calls that were cut off and names those without an id", () => {
    const kept = keptItems(
      [
        { ...call("a"), status: "incomplete" },
        { type: "function_call", id: "fc", name: "x", arguments: "{}" },
      ],
      3,
    );
    expect(kept).toMatchObject([{ call_id: "fc" }]);
  });

  it("finds what is not balanced", () => {
    expect(balanceFault([call("a")])).toContain("without an output: a");
    expect(balanceFault([{ type: "function_call_output", call_id: "a" }])).toContain("without a call: a");
  });

  it("moves images out of results where they are not allowed", () => {
    const entry = { kind: "response", n: 1, attempt: 1, items: [call("a")] } as const;
    const output = [
      { type: "input_text", text: "a picture" },
      { type: "input_image", image_url: "data:" },
    ];
    const ended = {
      type: "call.finished",
      time: 0,
      call: "1.1.a",
      output,
      is_error: false,
      note: null,
      exit_code: null,
      duration_ms: 0,
      artifacts: [],
    } as const;
    const outcome = () => ({ ...ended, output: [...output], artifacts: [] });
    expect(inputItems([entry], outcome, endpoint).slice(1)).toMatchObject([
      { output: "a picture\n(The image is in the next message.)" },
      { role: "user", content: [{ type: "input_image" }] },
    ]);
    expect(inputItems([entry], outcome, { ...endpoint, images_in_tool_results: true })[1]?.output).toEqual(output);
  });
});

describe("small parts", () => {
  it("digests do not depend on the order of keys", () => {
    expect(canonicalJson({ b: [1, { d: null, c: "x" }], a: undefined })).toBe('{"b":[1,{"c":"x","d":null}]}');
    expect(inputDigest("bash", { command: "a", cwd: "b" })).toBe(inputDigest("bash", { cwd: "b", command: "a" }));
    expect(inputDigest("bash", { command: "a" })).not.toBe(inputDigest("bash", { command: "a " }));
  });

  it("three equal calls in a row or six of ten are a loop", () => {
    expect(isLoop(["a", "a"])).toBe(false);
    expect(isLoop(["b", "a", "a", "a"])).toBe(true);
    expect(isLoop(["a", "b", "a", "b", "a", "b", "a", "b", "a", "a"])).toBe(true);
    expect(isLoop(["a", "b", "a", "b", "a", "b", "a", "b", "a", "b"])).toBe(false);
  });

  it("one writer a file, and nobody waits for nobody", async () => {
    const order: string[] = [];
    let release: () => void = () => {};
    const first = withFiles(["a", "b"], async () => {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      order.push("first");
    });
    const second = withFiles(["b", "a", "a"], async () => void order.push("second"));
    const other = withFiles(["c"], async () => void order.push("other"));
    await other;
    release();
    await Promise.all([first, second]);
    expect(order).toEqual(["other", "first", "second"]);
    await expect(withFiles(["a"], () => Promise.reject(new Error("x")))).rejects.toThrow("x");
    expect(await withFiles(["a"], async () => 7)).toBe(7);
  });

  it("the prompt of ours has less than 1,000 tokens and reads AGENTS.md from the root down", async () => {
    await writeFile(join(directory, "AGENTS.md"), "root rules");
    const agentsFiles = await readAgentsFiles(join(directory, "a", "b"), directory);
    expect(agentsFiles).toEqual([{ path: join(directory, "AGENTS.md"), text: "root rules" }]);
    const tools = ["read", "write", "edit", "apply_patch", "ls", "glob", "grep", "bash", "task", "fetch", "plan", "ask"];
    const text = buildInstructions({ directory, platform: "linux", day: "2026-01-01", tools, agentsFiles: [], sandbox: "off" });
    expect(estimateTokens(text)).toBeLessThan(1000);
    expect(text).toContain(`Working directory: ${directory}`);
  });
});
