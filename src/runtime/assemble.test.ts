import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { ModelStep } from "../agents/scenario.ts";
import { startModelServer } from "../verify/model-server/model-server.ts";
import { scenario } from "../verify/model-server/test-client.ts";
import { type OwnAgent, openAgent } from "./assemble.ts";
import type { RuntimeFrame } from "./frames.ts";
import { readJournal } from "./journal-file.ts";
import { CountingIds } from "./memory-stores.ts";
import { recordsOf } from "./records.ts";
import { replay } from "./replay.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const tool = (native_name: string, input: Record<string, unknown>): ModelStep["blocks"][number] => ({
  type: "tool",
  native_name,
  input,
});

async function start(turns: ModelStep[][], more: { trusted?: boolean; answer?: "allow" | "deny" } = {}) {
  const home = await realpath(await mkdtemp(join(tmpdir(), "dragoman-agent-")));
  closers.push(() => rm(home, { recursive: true, force: true }));
  const directory = join(home, "work");
  await mkdir(directory);
  await writeFile(join(directory, "AGENTS.md"), "Always say please.");
  await writeFile(join(directory, "sum.js"), "console.log(1 + 1);\n");
  const [first = [], ...rest] = turns;
  const server = await startModelServer({ scenarios: [scenario("s", first, ...rest)], default: "s" });
  closers.push(() => server.close());
  const frames: RuntimeFrame[] = [];
  const asked: string[] = [];
  const open = async (): Promise<OwnAgent> => {
    const agent = await openAgent({
      sessionId: "session_1",
      endpoint: { baseUrl: `${server.url}/v1` },
      model: "m",
      directory,
      data: join(home, "data"),
      trusted: more.trusted ?? true,
      ids: new CountingIds(),
      rules: [{ rule: "Bash(node sum.js)", decision: "allow" }],
      sandbox: "workspace-write",
      asker: {
        ask: async (request) => {
          asked.push(`${request.tool}: ${request.reason}`);
          return { decision: more.answer ?? "allow", input_digest: request.input_digest };
        },
      },
      retry: { retries: 3, baseMs: 1, maxMs: 1, random: () => 1 },
      onFrame: (frame) => void frames.push(frame),
    });
    closers.push(() => agent.close().catch(() => {}));
    return agent;
  };
  return { agent: await open(), open, server, directory, home, frames, asked };
}

const WORK: ModelStep[] = [
  { blocks: [tool("ls", {}), tool("read", { path: "sum.js" })] },
  { blocks: [tool("edit", { path: "sum.js", edits: [{ old: "1 + 1", new: "20 + 22" }] })] },
  { blocks: [tool("bash", { command: "node sum.js" })] },
  { blocks: [{ type: "text", text: "It prints 42 now." }] },
];

describe("our own agent", () => {
  it("reads, edits with permission, runs the program and answers; frames come live; the session can be replayed", async () => {
    const { agent, directory, home, frames, asked, server } = await start([WORK]);
    expect(await agent.loop.prompt("make it print 42")).toMatchObject({ reason: "end_turn" });
    expect(await readFile(join(directory, "sum.js"), "utf8")).toBe("console.log(20 + 22);\n");
    expect(asked).toEqual(["edit: it changes sum.js"]);
    const types = frames.map((frame) => frame.type);
    const bash = frames.findLastIndex((frame) => frame.type === "tool_started");
    expect(types.slice(bash, bash + 3)).toEqual(["tool_started", "tool_stdout", "tool_ended"]);
    expect(frames[bash + 1]).toMatchObject({ chunk: "42\n" });
    const first = server.requests[0]?.body as { instructions: string; tools: { name: string }[] };
    expect(first.instructions).toContain("Always say please.");
    expect(first.instructions).toContain(`Working directory: ${directory}`);
    expect(first.tools.map((one) => one.name)).toContain("apply_patch");
    const records = await readJournal(join(home, "data", "journal"));
    const report = await replay(records, { registry: agent.registry, directory });
    expect(report).toMatchObject({ requests: 4, differentRequests: [], firstDifference: null });
  });

  it("every event of the provider is one frame, and its bytes are in the journal", async () => {
    const { agent, home, frames } = await start([[{ blocks: [{ type: "text", text: "hello there", chunks: 4 }] }]]);
    await agent.loop.prompt("hi");
    await agent.close();
    const bytes = recordsOf(await readJournal(join(home, "data", "journal")), "received").map((one) => one.bytes);
    const events = frames.filter((frame) => frame.type === "provider_event");
    expect(
      bytes
        .join("")
        .split("\n\n")
        .filter((one) => one !== ""),
    ).toHaveLength(events.length);
    expect(
      frames
        .filter((frame) => frame.type === "output_text_delta")
        .map((frame) => frame.delta)
        .join(""),
    ).toBe("hello there");
  });

  it("an untrusted directory's AGENTS.md is not read, and a denied edit changes nothing", async () => {
    const { agent, directory, server } = await start([WORK], { trusted: false, answer: "deny" });
    await agent.loop.prompt("make it print 42");
    expect(JSON.stringify(server.requests[0]?.body)).not.toContain("please");
    expect(await readFile(join(directory, "sum.js"), "utf8")).toBe("console.log(1 + 1);\n");
  });

  it("opened again it goes on with the same conversation and the same prefix", async () => {
    const { agent, open, server, directory } = await start([WORK, [{ blocks: [{ type: "text", text: "as I said" }] }]]);
    await agent.loop.prompt("make it print 42");
    await agent.close();
    await writeFile(join(directory, "AGENTS.md"), "Something else.");
    const again = await open();
    expect(await again.loop.prompt("what did you do?")).toMatchObject({ reason: "end_turn" });
    const bodies = server.requests.map((request) => request.body as { instructions: string; input: unknown[] });
    expect(bodies.at(-1)?.instructions).toBe(bodies[0]?.instructions);
    expect(bodies.at(-1)?.input.slice(0, bodies[3]?.input.length)).toEqual(bodies[3]?.input);
  });

  it("says when there is no sandbox", async () => {
    const { agent } = await start([WORK]);
    if (agent.sandbox.mode === "off") expect(agent.sandbox.notice).toContain("without a sandbox");
    else expect(agent.sandbox.notice).toBeNull();
  });
});
