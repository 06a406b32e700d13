import { describe, expect, it } from "vitest";
import type { ContentPart } from "../../schema/content.ts";
import type { LedgerFrame, LedgerRow } from "../../schema/dialect.ts";
import type { EventDataOf } from "../../schema/event-data.ts";
import type { Item } from "../../schema/item.ts";
import { itemOf } from "../test-events.ts";
import { frameTypes } from "./frame.ts";
import { framesDialect } from "./index.ts";
import { type AnyFrame, Story } from "./test-frames.ts";
import { isUuid, uuidOf } from "./uuid.ts";

type Call = Extract<ContentPart, { type: "tool_call" }>;
type Result = Extract<ContentPart, { type: "tool_result" }>;

const call = (fields: Partial<Call> = {}, item: Partial<Item> = {}): { item: Item } => ({
  item: itemOf({
    item_id: "itm_call",
    kind: "tool_call",
    status: "in_progress",
    content: [{ type: "tool_call", call_id: "c1", name: "shell", arguments: '{"command":"ls"}', tool_kind: "shell", ...fields }],
    ...item,
  }),
});
const result = (fields: Partial<Result> = {}, item: Partial<Item> = {}): { item: Item } => ({
  item: itemOf({
    item_id: "itm_result",
    kind: "tool_result",
    role: "tool",
    completed_at: "2030-01-01T00:00:02.000Z",
    content: [{ type: "tool_result", call_id: "c1", output: "out", ...fields }],
    ...item,
  }),
});
const asked = (fields: Partial<EventDataOf["permission.requested"]["metadata"]> = {}): EventDataOf["permission.requested"] => ({
  permission_id: "p1",
  action: "Run",
  status: "requested",
  metadata: { tool_name: "shell", input: { command: "ls" }, call_id: "c1", item_id: "itm_call", options: [], ...fields },
});
const delta = (fields: Partial<EventDataOf["item.delta"]>): EventDataOf["item.delta"] => ({
  item_id: "itm_result",
  native_item_id: null,
  part_index: 0,
  part_type: "tool_output",
  delta: "out",
  ...fields,
});

/** A session that has begun: its first frames are reported. */
const begun = (): Story =>
  new Story()
    .add("session.started", { metadata: { agent: "claude" } }, { source: "daemon", synthetic: true })
    .add("message.queued", { message_id: "m1", turn_id: "t1", text: "say hello" }, { source: "daemon", synthetic: true });

const ofTools = (frames: AnyFrame[]): AnyFrame[] => frames.filter(({ type }) => type.startsWith("tool_"));
const TOOL = uuidOf("itm_call");

describe("the envelope", () => {
  it("of version 2 names its stream, with session_id as another name of it", () => {
    expect(begun().frames()[0]).toEqual({
      id: uuidOf("evt_1"),
      stream_kind: "session",
      stream_id: "s1",
      session_id: "s1",
      seq: 0,
      timestamp_ms: 1893456000100,
      type: "session_started",
      input: "say hello",
    });
  });

  it("of version 1 is the session's", () => {
    const [frame] = begun().frames({ version: 1 });
    expect(Object.keys(frame ?? {})).toEqual(["id", "session_id", "seq", "timestamp_ms", "type", "input"]);
    expect(frame).toMatchObject({ id: uuidOf("evt_1"), session_id: uuidOf("s1") });
  });

  it("has uuids, and leaves those that are", () => {
    const frames = begun()
      .add("item.started", call())
      .add("checkpoint.created", {
        checkpoint_id: "cp1",
        label: "l",
        created_at: "2030-01-01T00:00:00.000Z",
        files: ["a"],
        auto: true,
        tool_name: null,
      })
      .frames({ version: 1 });
    for (const { id, session_id } of frames) expect([id, session_id].map(String).every(isUuid)).toBe(true);
    expect(
      frames
        .map((frame) => frame.tool_id ?? frame.checkpoint_id)
        .filter((id) => id !== undefined)
        .map(String)
        .every(isUuid),
    ).toBe(true);
    const own = "01a1e0f3-dc39-7032-ae38-4cb4f79402ce";
    expect([own, "a", "b", "a"].map(uuidOf)).toEqual([own, uuidOf("a"), expect.not.stringContaining(uuidOf("a")), uuidOf("a")]);
  });

  it("counts from 0 without a gap, one frame an event, wherever reading begins", () => {
    const story = begun()
      .add("item.started", call())
      .add("item.completed", call({}, { status: "completed" }))
      .add("item.completed", result());
    const whole = story.frames();
    expect(whole.map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4]);
    for (const after of [2, 3, 4]) expect(story.frames({ after })).toEqual(whole.slice(after));
  });
});

describe("the first frame", () => {
  it("says what the session began with, and is told when that is known", () => {
    const story = new Story().add("session.started", { metadata: {} }).add("auth.status", { status: "ok" });
    expect(story.frames()).toEqual([]);
    const frames = story.add("message.queued", { message_id: "m", turn_id: "t", text: "hi" }).frames();
    expect(frames.map(({ type, seq }) => `${seq} ${type}`)).toEqual([
      "0 session_started",
      "1 provider_event",
      "2 provider_event",
    ]);
    expect(frames[0]?.input).toBe("hi");
    expect(story.frames({ after: 2 })).toEqual(frames);
  });

  it("takes the text of the first message where no message was queued", () => {
    const user = (status: Item["status"]) => ({
      item: itemOf({ role: "user", status, content: [{ type: "text", text: "from a file" }] }),
    });
    const frames = new Story()
      .add("session.started", { metadata: {} })
      .add("item.started", user("in_progress"))
      .add("item.completed", user("completed"))
      .frames();
    expect(frames.map(({ type, input }) => [type, input])[0]).toEqual(["session_started", "from a file"]);
  });

  it("has no input when the session ends without any", () => {
    const frames = new Story()
      .add("session.started", { metadata: {} })
      .add("session.ended", { reason: "terminated", terminated_by: "daemon" })
      .frames();
    expect(frames).toMatchObject([
      { type: "session_started", input: "" },
      { type: "session_ended", reason: "terminated" },
    ]);
  });
});

it("the user's prompt and system text are no output of the agent", () => {
  const grow = (item_id: string) => delta({ item_id, part_type: "text", delta: item_id });
  const frames = begun()
    .add("item.started", { item: itemOf({ item_id: "user", role: "user", status: "in_progress" }) })
    .add("item.delta", grow("user"))
    .add("item.started", { item: itemOf({ item_id: "system", kind: "system", role: "system", status: "in_progress" }) })
    .add("item.delta", grow("system"))
    .add("item.started", { item: itemOf({ item_id: "agent", status: "in_progress" }) })
    .add("item.delta", grow("agent"))
    .frames();
  expect(frames.filter(({ type }) => type === "output_text_delta").map((frame) => frame.delta)).toEqual(["agent"]);
});

describe("a tool", () => {
  it("keeps one id from its start to its end, stdout and stderr apart", () => {
    const frames = begun()
      .add("item.started", call())
      .add("item.started", result({ output: "" }, { status: "in_progress" }))
      .add("item.delta", delta({ delta: "a" }))
      .add("item.delta", delta({ delta: "b", stream: "stderr" }))
      .add("item.completed", call({}, { status: "completed" }))
      .add("item.completed", result({ exit_code: 3 }))
      .frames();
    expect(ofTools(frames)).toMatchObject([
      { type: "tool_started", tool_id: TOOL, name: "shell", args: { command: "ls" }, timeout_ms: null },
      { type: "tool_stdout", tool_id: TOOL, chunk: "a" },
      { type: "tool_stderr", tool_id: TOOL, chunk: "b" },
      { type: "tool_ended", tool_id: TOOL, exit_code: 3, artifacts: { output: "out", artifact_refs: [] } },
    ]);
  });

  it.each([
    ["grow with the call", (story: Story) => story.add("item.started", call({ arguments: "" })).add("item.updated", call())],
    [
      "come after an empty object",
      (story: Story) => story.add("item.started", call({ arguments: "{}" })).add("item.updated", call()),
    ],
    [
      "stand in the request for permission",
      (story: Story) => story.add("item.started", call({ arguments: "{}" })).add("permission.requested", asked()),
    ],
  ])("starts with its arguments when they %s", (_, tell) => {
    const frames = tell(begun())
      .add("item.completed", call({ arguments: "{}" }, { status: "completed" }))
      .frames();
    expect(ofTools(frames)).toMatchObject([{ type: "tool_started", args: { command: "ls" } }]);
  });

  it("starts with arguments that came only in pieces, also for a reader that begins in between", () => {
    const pieces = ['{"query":', '"drago', 'man"}'];
    const story = begun().add("item.started", call({ arguments: "" }));
    for (const piece of pieces)
      story.add("item.delta", delta({ item_id: "itm_call", part_type: "tool_arguments", delta: piece }));
    story
      .add("item.started", result({ output: "" }, { status: "in_progress", completed_at: null }))
      .add("item.completed", call({ arguments: pieces.join("") }, { status: "completed" }))
      .add("item.completed", result());
    const frames = story.frames();
    expect(ofTools(frames).map(({ type }) => type)).toEqual(["tool_started", "tool_ended"]);
    expect(ofTools(frames)[0]).toMatchObject({ args: { query: "dragoman" } });
    expect(story.frames({ after: 6 })).toEqual(frames.slice(6));
  });

  it("took as long as from its call to its end, without the time somebody thought about it", () => {
    const ended = (story: Story) => ofTools(story.add("item.completed", result({ exit_code: 0 })).frames()).at(-1)?.duration_ms;
    expect(ended(begun().add("item.started", call()))).toBe(2000 - 300);
    const permitted = begun().add("item.started", call()).add("permission.requested", asked());
    expect(ended(permitted.add("permission.resolved", { ...asked(), status: "approved" }))).toBe(2000 - 500);
    expect(
      ofTools(
        begun()
          .add("item.started", call())
          .add("item.completed", result({ duration_ms: 5 }))
          .frames(),
      ).at(-1)?.duration_ms,
    ).toBe(5);
  });

  it("has no exit code that nobody told", () => {
    const end = (kind: Call["tool_kind"], part: Partial<Result>, item: Partial<Item> = {}) => {
      const story = begun()
        .add("item.started", call(kind ? { tool_kind: kind } : {}))
        .add("item.started", result({}, { status: "in_progress" }));
      return ofTools(story.add("item.completed", result(part, item)).frames()).at(-1);
    };
    expect(end("shell", {})).toMatchObject({ type: "tool_ended", exit_code: -1 });
    expect(end("read", {})).toMatchObject({ type: "tool_ended", exit_code: 0 });
    expect(end("shell", { is_error: true, exit_code: 0 })).toMatchObject({ type: "tool_failed", error: "out" });
    expect(end("shell", { is_error: true }, { status: "failed" })).toMatchObject({ type: "tool_failed" });
    expect(end("shell", { is_error: true, exit_code: 2 })).toMatchObject({ type: "tool_ended", exit_code: 2 });
  });

  it("that was cut off has an end", () => {
    const cut = call({}, { status: "failed" });
    const frames = begun().add("item.started", call()).add("item.completed", cut, { source: "daemon", synthetic: true }).frames();
    expect(ofTools(frames)).toMatchObject([
      { type: "tool_started" },
      { type: "tool_failed", tool_id: TOOL, error: "The tool was cut off." },
    ]);
  });

  it("that failed ends once, with its result", () => {
    const frames = begun()
      .add("item.started", call())
      .add("item.completed", call({}, { status: "failed" }))
      .add("item.started", result({ output: "" }, { status: "in_progress" }))
      .add("item.completed", result({ is_error: true, output: "" }, { status: "failed" }))
      .frames();
    expect(ofTools(frames)).toMatchObject([
      { type: "tool_started" },
      { type: "tool_failed", error: "The tool failed; the agent gave no reason." },
    ]);
  });

  it("that goes on in the background ends when it does", () => {
    const job = (label: string, status: Item["status"]) => ({
      item: itemOf({
        item_id: "itm_job",
        kind: "status",
        role: null,
        parent_id: "itm_call",
        status,
        content: [{ type: "status", label }],
      }),
    });
    const frames = begun()
      .add("item.started", call())
      .add("item.started", job("Background job", "in_progress"))
      .add("item.completed", result({ output: "Command running in background" }))
      .add("turn.ended", { turn_id: "t1", stop_reason: "end_turn" })
      .add("item.completed", job("The job completed", "completed"))
      .add("item.completed", call({}, { status: "completed", completed_at: "2030-01-01T00:00:09.000Z" }))
      .frames();
    expect(ofTools(frames)).toMatchObject([
      { type: "tool_started", seq: 2 },
      { type: "tool_ended", seq: 7, exit_code: -1, duration_ms: 8700, artifacts: { output: "The job completed" } },
    ]);
  });

  it("that changes files starts after its checkpoint", () => {
    const edit = { tool_kind: "edit", name: "Edit", arguments: '{"file_path":"a"}' } as const;
    const created = {
      checkpoint_id: "cp",
      label: "before Edit",
      created_at: "2030-01-01T00:00:00.000Z",
      files: ["a"],
      auto: true,
      tool_name: "Edit",
    };
    const frames = begun()
      .add("item.started", call(edit))
      .add("checkpoint.created", created)
      .add("item.completed", call(edit, { status: "completed" }))
      .add("item.started", result({}, { status: "in_progress" }))
      .add("item.completed", result())
      .frames();
    expect(frames.map(({ type }) => type).filter((type) => type !== "provider_event")).toEqual([
      "session_started",
      "checkpoint_created",
      "tool_started",
      "tool_ended",
    ]);
    expect(frames[3]).toMatchObject({
      created_at_ms: 1893456000000,
      files: ["a"],
      auto: true,
      tool_name: "Edit",
      label: "before Edit",
    });
  });

  it("that is done again under the same call id is another tool", () => {
    const again = { item_id: "itm_again" };
    const frames = begun()
      .add("item.started", call())
      .add("item.completed", result({ exit_code: 0 }))
      .add("item.started", call({}, again))
      .add("item.completed", result({ exit_code: 0 }, { item_id: "itm_result_2" }))
      .frames();
    expect(ofTools(frames).map(({ type, tool_id }) => `${type} ${tool_id}`)).toEqual([
      `tool_started ${TOOL}`,
      `tool_ended ${TOOL}`,
      `tool_started ${uuidOf("itm_again")}`,
      `tool_ended ${uuidOf("itm_again")}`,
    ]);
  });

  it("names where the whole output lies", () => {
    const artifact = { artifact_id: "a", path: "/v1/artifacts/a", bytes: 9 };
    const frames = begun()
      .add("item.started", call())
      .add("item.completed", result({ artifact, exit_code: 0 }))
      .frames();
    expect(frames.at(-1)).toMatchObject({ artifacts: { artifact_refs: [artifact] } });
  });
});

describe("a provider event", () => {
  it("is what has no frame of its own, named after who said it", () => {
    const frames = begun()
      .add("limits.updated", { windows: [] }, { raw: { a: 1 } })
      .add("session.status", { status: "idle" }, { source: "daemon", synthetic: true })
      .add("turn.ended", { turn_id: "t", stop_reason: "end_turn" })
      .frames();
    expect(frames.slice(2)).toMatchObject([
      {
        type: "provider_event",
        provider: "claude",
        status: "event",
        event_name: "limits.updated",
        data: { windows: [] },
        raw: '{"a":1}',
        errors: [],
        response_errors: [],
      },
      { provider: "dragoman", status: "event", raw: null },
      { provider: "claude", status: "done", event_name: "turn.ended" },
    ]);
  });

  it("is invalid JSON only when it is, and then says what it was", () => {
    const unparsed = { error: "not understood", location: "stdout" };
    const daemon = { source: "daemon", synthetic: true } as const;
    const frames = begun()
      .add("agent.unparsed", unparsed, { ...daemon, native: { text: '{"type":', shown: true } })
      .add("agent.unparsed", unparsed, { ...daemon, native: { text: '{"type":"from_the_future"}', shown: true } })
      .add("agent.unparsed", unparsed, { ...daemon, native: { text: "secret words", shown: false } })
      .frames();
    expect(frames.slice(2)).toMatchObject([
      { provider: "claude", status: "invalid_json", raw: '{"type":', errors: ["not understood"] },
      { status: "event", raw: null, errors: ["not understood"] },
      { status: "invalid_json", raw: null },
    ]);
  });
});

describe("a stream that is read with its ledger", () => {
  const event_name = "response.output_text.delta";
  /** Spaces, the order of keys and a number too large for a double: all as the provider wrote them. */
  const data = `{"type": "${event_name}", "n": 12345678901234567890, "delta": "hi"}`;
  const said: LedgerFrame = {
    type: "provider_event",
    provider: "openresponses",
    status: "event",
    event_name,
    data,
    raw: null,
    errors: [],
    response_errors: [],
  };
  const row = (native_seq: number, ...frames: LedgerFrame[]): LedgerRow => ({ native_seq, time_ms: 5, frames });
  const story = (): Story =>
    begun()
      .add("item.delta", delta({ item_id: "a", part_type: "text" }), {
        rows: [row(7, said, { type: "output_text_delta", delta: "hi" })],
        told: true,
      })
      .add("turn.started", { turn_id: "t1", initiator: "client" }, { rows: [row(9, toolStart("1.1.c1"))] })
      .add("session.ended", { reason: "completed", terminated_by: "agent" });
  const toolStart = (tool_id: string): LedgerFrame => ({
    type: "tool_started",
    tool_id,
    name: "read",
    args: {},
    timeout_ms: null,
  });

  it("tells its rows, and an event only where no row has told it; frames are counted", () => {
    const frames = story().frames({ ledger: true });
    expect(frames.map(({ seq, type }) => `${seq} ${type}`)).toEqual([
      "0 session_started",
      "1 provider_event",
      "2 provider_event",
      "3 output_text_delta",
      "4 tool_started",
      "5 provider_event",
      "6 tool_failed",
      "7 session_ended",
    ]);
    expect(frames[2]).toMatchObject({ provider: "openresponses", event_name, timestamp_ms: 5, data: { delta: "hi" }, raw: null });
    expect(frames[6]).toMatchObject({ tool_id: frames[4]?.tool_id, error: expect.stringMatching(/cut off/) });
    expect(new Set(frames.map(({ id }) => id)).size).toBe(8);
    expect(frames.filter(({ id, tool_id }) => !isUuid(id) || (tool_id !== undefined && !isUuid(String(tool_id))))).toEqual([]);
    expect(story().frames({ ledger: true, after: 3 })).toEqual(frames.slice(4));
  });

  it("splices the provider's JSON in as it is", () => {
    const reader = framesDialect.open({ kind: "session", id: "s1", version: 1, from: 1 });
    const [line] = reader.lines({ json: "", rows: [row(7, said)], told: true });
    expect(line?.json).toContain(`"event_name":"${event_name}","data":${data},"raw":null,"errors":[],"response_errors":[]}`);
  });
});

describe("the stream of a task", () => {
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
      })
      .add("task.status", { task_id: "task-1", status: "running", started_at: "2030-01-01T00:00:00.000Z" })
      .add("task.output", { task_id: "task-1", stream: "pty", chunk: "x", offset: 7, bytes: 1 })
      .add("task.stdin", { task_id: "task-1", chunk_b64: "eA==" })
      .add("task.resized", { task_id: "task-1", rows: 1, cols: 2 })
      .add("task.signalled", { task_id: "task-1", signal: "SIGINT" })
      .add("task.cancel_requested", { task_id: "task-1", reason: "r" })
      .add("task.status", { task_id: "task-1", status: "cancelled", ended_at: "2030-01-01T00:00:01.000Z" })
      .add("task.cancelled", { task_id: "task-1", reason: "r", wall_time_ms: 9 });

  it("is its own, begins at 0, and has the whole life of the task", () => {
    const frames = task().frames({ kind: "task", id: "task-1" });
    expect(frames.map(({ seq }) => seq)).toEqual(frames.map((_, index) => index));
    for (const frame of frames) expect(frame).toMatchObject({ stream_kind: "task", stream_id: "task-1", task_id: "task-1" });
    expect(frames.every((frame) => !("session_id" in frame))).toBe(true);
    expect(frames.map(({ type }) => type)).toEqual([
      "tool_task_spawned",
      "tool_task_status",
      "tool_task_output_delta",
      "tool_task_stdin_written",
      "tool_task_resized",
      "tool_task_signalled",
      "tool_task_cancel_requested",
      "tool_task_status",
      "tool_task_cancelled",
    ]);
    expect(frames[2]).toMatchObject({ stream: "pty", chunk: "x" });
    expect(["offset", "bytes"].filter((name) => name in (frames[2] ?? {}))).toEqual([]);
    expect([frames[1]?.started_at_ms, frames[7]?.ended_at_ms]).toEqual([1893456000000, 1893456001000]);
  });

  it("has the task's id as session_id in version 1", () => {
    for (const frame of task().frames({ kind: "task", id: "task-1", version: 1 })) {
      expect([frame.session_id, frame.task_id]).toEqual([uuidOf("task-1"), uuidOf("task-1")]);
      expect(Object.keys(frame)).not.toContain("stream_kind");
    }
  });

  it("is not mixed into the session's", () => {
    const frames = begun().add("task.status", { task_id: "t1", status: "running" }).frames();
    expect(frames[2]).toMatchObject({ type: "provider_event", event_name: "task.status", stream_kind: "session" });
  });
});

it("has artifacts, skills and checkpoints as the events say them", () => {
  const frames = begun()
    .add("checkpoint.rewound", { checkpoint_id: "c", label: "l", files: ["a"] })
    .add("checkpoint.failed", { action: "create", error: "e" })
    .add("artifact.written", { artifact_id: "a", kind: "image", bytes: 1, digest: "sha256:0" })
    .add("skill.catalog_updated", { count: 1, roots: ["r"] })
    .add("skill.loaded", { name: "n", path: "p", digest: "d", frontmatter: {} })
    .add("skill.invoked", { name: "n", mode: "auto" })
    .add("skill.warning", { kind: "k", detail: "d" })
    .frames();
  expect(frames.slice(2)).toMatchObject([
    { type: "checkpoint_rewound", checkpoint_id: uuidOf("c"), label: "l", files: ["a"] },
    { type: "checkpoint_failed", action: "create", error: "e" },
    { type: "artifact_written", artifact_id: "a", kind: "image", bytes: 1, digest: "sha256:0" },
    { type: "skill_catalog_updated", count: 1, roots: ["r"] },
    { type: "skill_loaded", name: "n", path: "p", digest: "d", frontmatter: {} },
    { type: "skill_invoked", name: "n", mode: "auto" },
    { type: "skill_warning", kind: "k", detail: "d" },
  ]);
  expect(frames.every(({ type }) => (frameTypes as readonly string[]).includes(type))).toBe(true);
});
