/** Every frame type in both versions, byte for byte as recorded in `golden/`, and with every field of the contract. Record anew with `npx vitest run -u` on this file. */
import { describe, expect, it } from "vitest";
import type { LedgerFrame } from "../../schema/dialect.ts";
import { itemOf } from "../test-events.ts";
import { frameTypes } from "./frame.ts";
import { contractErrors } from "./test-contract.ts";
import { Story } from "./test-frames.ts";

const provided = (fields: object): LedgerFrame => ({
  type: "provider_event",
  provider: "openresponses",
  status: "event",
  event_name: "response.output_text.delta",
  data: '{"type":"response.output_text.delta","delta":"hi"}',
  raw: null,
  errors: [],
  response_errors: [],
  ...fields,
});
const LEDGER: LedgerFrame[] = [
  provided({}),
  { type: "output_text_delta", delta: "hi" },
  provided({ status: "invalid_json", event_name: null, data: null, raw: "{", errors: ["the payload is not JSON"] }),
  provided({ status: "done", event_name: null, data: null, raw: "[DONE]" }),
  { type: "tool_started", tool_id: "1.1.c1", name: "bash", args: { command: "ls", timeout_ms: 5 }, timeout_ms: 5 },
  { type: "tool_stdout", tool_id: "1.1.c1", chunk: "out\n" },
  { type: "tool_stderr", tool_id: "1.1.c1", chunk: "err\n" },
  {
    type: "tool_ended",
    tool_id: "1.1.c1",
    exit_code: 3,
    duration_ms: 7,
    artifacts: { artifact_refs: [], parts: [], output: "out" },
  },
  { type: "tool_started", tool_id: "1.1.c2", name: "read", args: {}, timeout_ms: null },
  { type: "tool_failed", tool_id: "1.1.c2", error: "There is no such file." },
];

const checkpoint = { checkpoint_id: "c", label: "before the turn", created_at: "2030-01-01T00:00:00.000Z", files: ["a.txt"] };
const common = (): Story =>
  new Story()
    .add("session.started", { metadata: { agent: "responses" } }, { source: "daemon", synthetic: true })
    .add("message.queued", { message_id: "m1", turn_id: "t1", text: "hi" }, { source: "daemon", synthetic: true });

const ownAgent = (): Story =>
  common()
    .add("checkpoint.created", { ...checkpoint, auto: true, tool_name: "write" })
    .add(
      "turn.started",
      { turn_id: "t1", initiator: "client" },
      { rows: [{ native_seq: 9, time_ms: 1893456000250, frames: LEDGER }] },
    )
    .add("checkpoint.rewound", { checkpoint_id: "c", label: "before the turn", files: ["a.txt"] })
    .add("checkpoint.failed", { action: "rewind", error: "The disk is full." })
    .add("artifact.written", {
      artifact_id: "a",
      kind: "image",
      bytes: 1,
      digest: "sha256:0",
      mime: "image/png",
      preview: "1 x 1",
    })
    .add("skill.catalog_updated", { count: 1, roots: ["r"] })
    .add("skill.loaded", { name: "n", path: "p", digest: "d", frontmatter: { name: "n" }, warnings: ["w"] })
    .add("skill.invoked", { name: "n", args: "x", mode: "auto", effective_allowed_tools: ["read"] })
    .add("skill.warning", { name: "n", kind: "k", detail: "d" })
    .add("session.ended", { reason: "completed", terminated_by: "agent" });

/** The same from events alone, as for any other agent. */
const otherAgent = (): Story => {
  const call = {
    type: "tool_call" as const,
    call_id: "c1",
    name: "Bash",
    arguments: '{"command":"ls"}',
    tool_kind: "shell" as const,
  };
  const item = itemOf({ item_id: "itm_call", kind: "tool_call", status: "in_progress", completed_at: null, content: [call] });
  const out = itemOf({ item_id: "itm_out", kind: "tool_result", role: "tool", completed_at: "2030-01-01T00:00:02.000Z" });
  const delta = { item_id: "itm_out", native_item_id: null, part_index: 0, part_type: "tool_output" as const };
  return common()
    .add("item.started", { item })
    .add("item.started", {
      item: { ...out, status: "in_progress", content: [{ type: "tool_result", call_id: "c1", output: "" }] },
    })
    .add("item.delta", { ...delta, delta: "out" })
    .add("item.delta", { ...delta, delta: "err", stream: "stderr" })
    .add("item.completed", {
      item: { ...out, content: [{ type: "tool_result", call_id: "c1", output: "outerr", exit_code: 3 }] },
    })
    .add("session.ended", { reason: "completed", terminated_by: "agent" });
};

const task = (): Story =>
  new Story()
    .add("task.spawned", {
      task_id: "task-1",
      tool_name: "shell",
      args: { command: "ls" },
      cwd: "/w",
      title: "ls",
      execution_mode: "pty",
      origin_session_id: "s1",
      owner: "daemon",
      controls: ["stdin"],
    })
    .add("task.status", { task_id: "task-1", status: "running", started_at: "2030-01-01T00:00:00.000Z" })
    .add("task.output", { task_id: "task-1", stream: "pty", chunk: "x", offset: 7, bytes: 1 })
    .add("task.stdin", { task_id: "task-1", chunk_b64: "eA==" })
    .add("task.resized", { task_id: "task-1", rows: 1, cols: 2 })
    .add("task.signalled", { task_id: "task-1", signal: "SIGINT" })
    .add("task.cancel_requested", { task_id: "task-1", reason: "r" })
    .add("task.status", {
      task_id: "task-1",
      status: "cancelled",
      ended_at: "2030-01-01T00:00:01.000Z",
      exit_code: null,
      signal: "SIGTERM",
    })
    .add("task.cancelled", { task_id: "task-1", reason: "r", wall_time_ms: 9 });

describe.each([1, 2] as const)("frames of version %i", (version) => {
  const streams = {
    "own-agent": ownAgent().frames({ version, ledger: true }),
    "other-agent": otherAgent().frames({ version }),
    task: task().frames({ version, kind: "task", id: "task-1" }),
  };

  it.each(Object.keys(streams) as (keyof typeof streams)[])("are what was recorded: %s", async (name) => {
    const text = streams[name].map((frame) => `${JSON.stringify(frame)}\n`).join("");
    await expect(text).toMatchFileSnapshot(`golden/${name}.v${version}.ndjson`);
    expect(streams[name].map(({ seq }) => seq)).toEqual(streams[name].map((_, index) => index));
  });

  it("are there for every type, with every field of the contract and no other", () => {
    const types = new Set(Object.values(streams).flatMap((frames) => frames.map(({ type }) => type)));
    expect(frameTypes.filter((type) => !types.has(type))).toEqual([]);
    for (const [name, frames] of Object.entries(streams)) expect([name, ...contractErrors(frames, version)]).toEqual([name]);
  });
});
