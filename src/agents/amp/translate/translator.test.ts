import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seedOf } from "../../../test-seed.ts";
import type { NativeDirection, NativeMessage } from "../../contract.ts";
import { NATIVE_TYPES } from "./native-types.ts";
import {
  answer,
  assistant,
  call,
  draftsOf,
  echo,
  exit,
  failure,
  init,
  line,
  of,
  play,
  sent,
  stderr,
  success,
  toolResult,
  user,
} from "./test-messages.ts";
import { AmpTranslator } from "./translator.ts";

const CANCELLED = "User cancelled (SIGINT/SIGTERM)";
const run = (...messages: NativeMessage[]) => play(new AmpTranslator(), ...messages);
const items = (translations: ReturnType<typeof run>) => of(translations, "item.add").map(({ item }) => item);
const ends = (translations: ReturnType<typeof run>) => of(translations, "turn.end").map(({ stop_reason }) => stop_reason);
const DOT = "iVBORw0KGgo=";

describe("a turn of Amp", () => {
  it("is the echo, the answer and one end; the result does not repeat the answer", () => {
    const said = run(init(), echo("hi"), answer("Hello."), success("Hello."), exit(0));
    expect(items(said).map(({ role, content }) => [role, content])).toEqual([
      ["user", [{ type: "text", text: "hi" }]],
      ["assistant", [{ type: "text", text: "Hello." }]],
    ]);
    expect(of(said, "turn.end")).toEqual([
      {
        do: "turn.end",
        stop_reason: "end_turn",
        usage: {
          input_tokens: 118,
          output_tokens: 20,
          cache_read_tokens: 11,
          cache_write_tokens: 7,
          context_used: 118,
          context_window: 168000,
        },
      },
    ]);
    expect(draftsOf(said)).toContainEqual({ do: "native_session", id: "T-00000000-0000-4000-8000-000000000001" });
    expect(said.every(({ disposition }) => disposition === "mapped")).toBe(true);
  });

  it("says what the types of the SDK have and the builds of today do not: ids, models, usage of the run", () => {
    const out = (data: object): NativeMessage => ({ dir: "out", data });
    const message = { role: "assistant", content: "Hello.", stop_reason: "tool_use", id: "msg_1", model: "m-1" };
    const said = run(
      init(),
      echo("hi"),
      out({ type: "assistant", message, parent_tool_use_id: null }),
      out({ type: "assistant", message, parent_tool_use_id: null }),
      out({ type: "result", subtype: "success", result: "Hello.", usage: { input_tokens: 3, output_tokens: 4 } }),
    );
    expect(items(said).at(-1)).toMatchObject({ native_item_id: "msg_1", content: [{ type: "text", text: "Hello." }] });
    expect(
      of(said, "event").flatMap(({ type, data }) => (type === "config.changed" && "model" in data ? [data.model] : [])),
    ).toEqual(["m-1"]);
    expect(of(said, "turn.end")).toMatchObject([{ usage: { input_tokens: 3, output_tokens: 4 } }]);
  });

  it.each([
    [{ text: 5, type: "text" }, "content block text"],
    [{ thinking: null, type: "thinking" }, "content block thinking"],
  ])("does not drop a block without its text: %j", (block, error) => {
    expect(run(init(), echo("hi"), assistant([block], "end_turn")).at(-1)).toMatchObject({ disposition: "unparsed", error });
  });

  it.each([[{ text: "hi" }], [null], [undefined]])("does not drop content of a wrong type: %j", (content) => {
    const [, told] = run(init(), user(content));
    expect(told).toMatchObject({ disposition: "unparsed", error: "content that is no list" });
  });

  it("ends with end_turn while stdin stays open: no result comes between turns", () => {
    const said = run(sent("one"), init(), echo("one"), answer("1"), sent("two"), echo("two"), answer("2"), success("2"), exit(0));
    expect(ends(said)).toEqual(["end_turn", "end_turn"]);
  });

  it("goes on when a message steers it: the cancelled tool, the new message, one turn", () => {
    const said = run(
      sent("one"),
      init(),
      echo("one"),
      call("t1", "Bash", { cmd: "sleep 9" }),
      sent("two", { steer: true }),
      toolResult("t1", "Tool execution cancelled: Unknown reason", true),
      echo("two"),
      answer("2"),
    );
    expect(ends(said)).toEqual(["end_turn"]);
    expect(items(said).filter(({ role }) => role === "user")).toHaveLength(2);
  });

  it("shows the message as ours when the run fails before the echo (jan: a race)", () => {
    const said = run(
      sent("hello"),
      init(),
      failure('500 {"type":"error","error":{"type":"api_error","message":"broken"}}'),
      exit(0),
    );
    const [message] = of(said, "item.add");
    expect(message).toMatchObject({ synthetic: true, item: { role: "user", content: [{ type: "text", text: "hello" }] } });
    expect(of(said, "error")).toMatchObject([
      { error: { code: "api_error", message: "broken", details: { native_code: 500, retryable: true } } },
    ]);
    expect(of(said, "turn.end")).toMatchObject([{ stop_reason: "error", error_code: "api_error" }]);
  });

  it("puts the images back that the echo leaves out", () => {
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: DOT } };
    const data = { type: "user", message: { role: "user", content: [{ type: "text", text: "look" }, image] } };
    const [message] = items(run({ dir: "in", data }, init(), echo("look")));
    expect(message?.content).toEqual([
      { type: "text", text: "look" },
      { type: "media", media: "image", mime: "image/png", base64: DOT },
    ]);
  });

  it("does not show again what was carried along from a turn Amp has lost", () => {
    const content = [
      { type: "text", text: "lost" },
      { type: "text", text: "new" },
    ];
    const said = run(
      { dir: "in", data: { type: "user", carried: 1, message: { role: "user", content } } },
      init(),
      user(content),
    );
    expect(items(said).map((item) => item.content)).toEqual([[{ type: "text", text: "new" }]]);
  });

  it("has no message for an empty answer", () => {
    const said = run(init(), echo("hi"), success(""), exit(0));
    expect(ends(said)).toEqual(["end_turn"]);
    expect(items(said).map(({ role }) => role)).toEqual(["user"]);
  });

  it("shows an answer that only the result has", () => {
    expect(items(run(init(), echo("hi"), success("Only here.")))[1]?.content).toEqual([{ type: "text", text: "Only here." }]);
  });

  it("keeps thinking apart from the answer, also when it is hidden", () => {
    const blocks = [
      { type: "thinking", thinking: "Let me see." },
      { type: "redacted_thinking", data: "b3BhcXVl" },
      { type: "text", text: "Done." },
    ];
    expect(items(run(assistant(blocks, "end_turn")))[0]?.content).toEqual([
      { type: "reasoning", text: "Let me see.", visibility: "public" },
      { type: "reasoning", text: "", visibility: "private" },
      { type: "text", text: "Done." },
    ]);
  });

  it("tells of an answer that did not come to its end (stop_reason null), and leaves the silence to the connection", () => {
    const said = run(init(), echo("hi"), assistant([{ type: "text", text: "Half" }], null));
    expect(of(said, "item.add")[1]).toMatchObject({ status: "failed" });
    expect(said.at(-1)).toMatchObject({ type: "assistant", disposition: "noted" });
    expect(ends(said)).toEqual([]);
  });

  it("is interrupted by a signal, which is no error", () => {
    const said = run(init(), echo("hi"), failure(CANCELLED), exit(1));
    expect(ends(said)).toEqual(["interrupted"]);
    expect(of(said, "error")).toEqual([]);
  });
});

describe("tools of Amp", () => {
  it("[G5] belong to the message that called them, and results to the same one", () => {
    const said = run(init(), echo("go"), call("t1", "Bash", { cmd: "ls" }), toolResult("t1", '{"output":"a\\n","exitCode":0}'));
    const message = items(said)[1];
    const [tool] = of(said, "item.start");
    expect(message).toMatchObject({ kind: "message", role: "assistant", content: [] });
    expect(tool?.item).toMatchObject({ kind: "tool_call", parent: message?.key, native_item_id: "t1" });
    expect(tool?.item.content).toEqual([
      { type: "tool_call", name: "Bash", arguments: '{"cmd":"ls"}', call_id: "t1", tool_kind: "shell", title: "ls" },
    ]);
    expect(items(said)[2]).toMatchObject({ kind: "tool_result", role: "tool", parent: message?.key });
  });

  it("answer in one line for a whole batch", () => {
    const batch = assistant(
      [
        { type: "tool_use", id: "a", name: "Read", input: { path: "/x" } },
        { type: "tool_use", id: "b", name: "glob", input: { filePattern: "*" } },
      ],
      "tool_use",
    );
    const results = user([
      { type: "tool_result", tool_use_id: "a", content: "no such file", is_error: true },
      { type: "tool_result", tool_use_id: "b", content: '["/x","/y"]', is_error: false },
    ]);
    const outputs = items(run(init(), echo("go"), batch, results))
      .filter(({ kind }) => kind === "tool_result")
      .map(({ content }) => content?.[0]);
    expect(outputs).toEqual([
      { type: "tool_result", call_id: "a", output: "no such file", is_error: true },
      { type: "tool_result", call_id: "b", output: "/x\n/y" },
    ]);
  });

  it("that needed approval end the run as a denied permission with advice", () => {
    const text = "The following tools require user approval, which is not supported in stream JSON mode: Bash";
    const said = run(init(), echo("go"), call("t1", "Bash", { cmd: "curl x" }), failure(text), exit(0));
    const [asked] = of(said, "permission.request");
    expect(asked).toMatchObject({ tool_name: "Bash", action: "Bash: curl x", call_id: "t1", input: { cmd: "curl x" } });
    expect(of(said, "permission.resolve")).toMatchObject([{ key: asked?.key, status: "denied", resolved_by: "agent" }]);
    expect(of(said, "permission.resolve")[0]?.message).toContain("permission_mode");
    expect(of(said, "turn.end")).toMatchObject([{ stop_reason: "error", error_code: "execution_error" }]);
  });

  it("that a rule held back are denied by policy, and the turn goes on", () => {
    const said = run(
      init(),
      echo("go"),
      call("t1", "Bash", { cmd: "x" }),
      toolResult("t1", "Tool execution rejected by user: Rejected by user permissions rule 0: reject Bash", true),
    );
    expect(of(said, "permission.resolve")).toMatchObject([{ status: "denied", resolved_by: "policy" }]);
    expect(ends(said)).toEqual([]);
  });

  it("make one plan a turn, changed in place", () => {
    const todos = (status: string) => ({ todos: [{ id: "1", content: "Look", status, priority: "high" }] });
    const said = run(
      init(),
      echo("go"),
      call("a", "todo_write", todos("in-progress")),
      toolResult("a", "ok"),
      call("b", "todo_write", todos("completed")),
      toolResult("b", "ok"),
    );
    const plan = of(said, "item.start").find(({ item }) => item.kind === "status");
    expect(plan?.item.content).toEqual([{ type: "plan", entries: [{ text: "Look", status: "in_progress", priority: "high" }] }]);
    expect(of(said, "item.update")).toMatchObject([{ key: plan?.item.key, content: [{ entries: [{ status: "completed" }] }] }]);
  });

  it("of a sub-agent would be parented to its call, and do not end the turn", () => {
    const said = run(
      init(),
      echo("go"),
      call("t1", "Task", { description: "sub", prompt: "do" }),
      assistant([{ type: "text", text: "inside" }], "end_turn", "t1"),
    );
    const task = of(said, "item.start")[0]?.item.key;
    expect(items(said).at(-1)).toMatchObject({ parent: task, content: [{ type: "text", text: "inside" }] });
    expect(ends(said)).toEqual([]);
  });
});

describe("a process of Amp", () => {
  it("asks for a login on stdout: auth.status with the address", () => {
    const said = run(
      sent("hi"),
      line("No API key found. Starting login flow..."),
      line("If your browser does not open automatically, visit:"),
      line("http://127.0.0.1:1/auth/cli-login?authToken=x"),
      exit(null, "SIGTERM"),
    );
    const auth = draftsOf(said).flatMap((draft) => (draft.do === "event" && draft.type === "auth.status" ? draft.data : []));
    expect(auth.map(({ status, url }) => [status, url])).toEqual([
      ["required", undefined],
      ["required", "http://127.0.0.1:1/auth/cli-login?authToken=x"],
    ]);
    expect(of(said, "turn.end")).toMatchObject([{ stop_reason: "error", error_code: "provider_auth" }]);
  });

  it("that dies without a result ends its turn with what stderr said", () => {
    const said = run(sent("hi"), stderr("Thread T-0 does not exist."), stderr("\u001b[?25h"), exit(1));
    expect(of(said, "error")).toMatchObject([
      { error: { code: "execution_error", message: "Amp exited with code 1 without a result: Thread T-0 does not exist." } },
    ]);
    expect(ends(said)).toEqual(["error"]);
    expect(ends(run(init(), echo("hi"), exit(null, "SIGKILL")))).toEqual(["error"]);
  });

  it("is not judged by its exit code once it has given a result", () => {
    expect(of(run(init(), echo("hi"), answer("x"), success("x"), exit(1)), "error")).toEqual([]);
  });

  it("without stream JSON prints the answer as text", () => {
    const said = run(line("Hello,"), line("world."), exit(0));
    expect(items(said)[0]?.content).toEqual([{ type: "text", text: "Hello,\nworld." }]);
    expect(ends(said)).toEqual(["end_turn"]);
  });

  it("says each configuration once, however many processes the conversation has", () => {
    const translator = new AmpTranslator();
    const turn = [init({ agent_mode: "smart", reasoning_effort: "high" }), echo("hi"), answer("x"), success("x"), exit(0)];
    const said = [...play(translator, ...turn), ...play(translator, ...turn)];
    const changes = draftsOf(said).flatMap((draft) =>
      draft.do === "event" && draft.type === "config.changed" ? draft.data : [],
    );
    expect(changes).toEqual([{ agent_mode: "smart", variant: "high", tools: ["Bash", "Read"], mcp_servers: [] }]);
    const keys = of(said, "item.add").map(({ item }) => item.key);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("makes keys of the message that began the run, so that a new translator repeats none", () => {
    const keys = (id: string) =>
      of(run(sent("hi", { request_id: id }), init(), echo("hi"), answer("x")), "item.add").map(({ item }) => item.key);
    expect(new Set([...keys("one"), ...keys("two")]).size).toBe(4);
  });
});

describe("what is not understood", () => {
  it("is unparsed, and what can be understood of it is still told", () => {
    const [said] = run(assistant([{ type: "text", text: "Seen." }, { type: "hologram" }], "end_turn"));
    expect(said).toMatchObject({ disposition: "unparsed", error: "content block hologram" });
    const content = [
      { type: "text", text: "Seen." },
      { type: "json", json: { type: "hologram" } },
    ];
    expect(items(said ? [said] : [])[0]?.content).toEqual(content);
    expect(run({ dir: "out", data: { type: "done" } })[0]?.disposition).toBe("unparsed");
    expect(run(init(), line("noise"))[1]?.disposition).toBe("unparsed");
  });

  it("a block nobody knows beside results is an item of its own, and no echo of what was sent", () => {
    const hologram = { type: "hologram", data: 1 };
    const said = run(sent("hi"), init(), user([hologram]), echo("hi"), answer("x"));
    expect(items(said).map(({ kind, role, content }) => [kind, role, content?.[0]?.type])).toEqual([
      ["unknown", null, "json"],
      ["message", "user", "text"],
      ["message", "assistant", "text"],
    ]);
  });

  it("a stop reason or a kind of result nobody knows does not hold up the turn", () => {
    const said = run(init(), echo("hi"), assistant([{ type: "text", text: "So far." }], "pause_turn"));
    expect(said.at(-1)).toMatchObject({ disposition: "unparsed", error: "stop reason pause_turn" });
    expect(items(said).at(-1)?.content).toEqual([{ type: "text", text: "So far." }]);
    const ended = run(init(), echo("hi"), { dir: "out", data: { type: "result", subtype: "error_max_budget", is_error: true } });
    expect(ended.at(-1)).toMatchObject({ disposition: "unparsed", error: "result of subtype error_max_budget" });
    expect(of(ended, "turn.end")).toMatchObject([{ stop_reason: "error" }]);
  });

  it("never throws, never is silent, and has a row in the table of native types", () => {
    const word = fc.constantFrom(
      "system",
      "init",
      "user",
      "assistant",
      "result",
      "tool_use",
      "tool_result",
      "text",
      "thinking",
      "success",
      "x",
    );
    const json = fc.letrec((tie) => ({
      value: fc.oneof({ depthSize: "small" }, fc.jsonValue({ maxDepth: 2 }), tie("message")),
      message: fc.record(
        {
          type: word,
          subtype: word,
          message: tie("value"),
          content: fc.array(tie("value"), { maxLength: 3 }),
          is_error: fc.boolean(),
          error: fc.string(),
          tool_use_id: word,
          id: word,
          name: word,
          input: tie("value"),
          stop_reason: fc.option(word),
        },
        { requiredKeys: ["type"] },
      ),
    }));
    const direction = fc.constantFrom<NativeDirection>("in", "out", "err", "exit");
    fc.assert(
      fc.property(
        fc.array(fc.tuple(direction, fc.oneof(json.message, json.value, fc.string())), { maxLength: 12 }),
        (messages) => {
          const translator = new AmpTranslator();
          for (const [dir, data] of messages) {
            const said = translator.translate({ dir, data });
            expect(said.length).toBeGreaterThan(0);
            for (const { type } of said) expect(NATIVE_TYPES).toHaveProperty([type]);
          }
        },
      ),
      { seed: seedOf(20260126), numRuns: 150 },
    );
  });
});
