// The oddities of OpenCode 1.18, each with the traffic that shows it.
import { describe, expect, it } from "vitest";
import { SESSION, Wire } from "./test-wire.ts";
import { OpencodeTranslator } from "./translator.ts";

const text = (text: string, ended = true) => ({ type: "text", text, time: { start: 1, ...(ended ? { end: 2 } : {}) } });

describe("messages", () => {
  it("[G4] text streams as deltas and is never doubled by its closing update", () => {
    const told = new Wire()
      .begun()
      .part("msg_a", "p", text("", false))
      .delta("msg_a", "p", "Hel")
      .delta("msg_a", "p", "lo")
      .part("msg_a", "p", text("Hello"))
      .done("msg_a")
      .idle()
      .replay();
    expect(told.items).toEqual(["user completed: hi", "assistant completed: Hello"]);
    expect(told.of("item.delta").map(({ delta }) => delta)).toEqual(["hi", "Hel", "lo"]);
    expect(told.faults).toEqual([]);
  });

  it("[G3] a delta of a part never announced makes a stub start, healed by the closing update", () => {
    const told = new Wire()
      .created()
      .prompt("hi")
      .delta("msg_a", "p", " world")
      .part("msg_a", "p", text("Hello world"))
      .done("msg_a")
      .status("busy")
      .idle()
      .replay();
    expect(told.items).toContain("assistant completed: Hello world");
    expect(told.faults).toEqual([]);
  });

  it("the same event on two streams is told once, and a sync repeats nothing", () => {
    const wire = new Wire().begun();
    const delta = { sessionID: SESSION, messageID: "msg_a", partID: "p", field: "text", delta: "once" };
    wire.event("message.part.delta", delta, "evt_x", "/event").row("sse", {
      stream: "/global/event",
      json: { directory: "/p", payload: { id: "evt_x", type: "message.part.delta", properties: delta } },
    });
    wire.row("sse", {
      stream: "/global/event",
      json: { payload: { type: "sync", syncEvent: { id: "evt_x", type: "message.part.delta.1", data: delta } } },
    });
    const told = wire.done("msg_a").idle().replay();
    expect(told.items).toContain("assistant completed: once");
    expect(told.faults).toEqual([]);
  });

  it("an event that only its sync copy brought is not lost", () => {
    const data = { sessionID: SESSION, messageID: "msg_a", partID: "p", field: "text", delta: "late" };
    const sync = { payload: { type: "sync", syncEvent: { id: "evt_y", type: "message.part.delta.1", data } } };
    const told = new Wire().begun().row("sse", { stream: "/global/event", json: sync }).done("msg_a").idle().replay();
    expect(told.items).toContain("assistant completed: late");
  });

  it("reasoning and text keep their places", () => {
    const told = new Wire()
      .begun()
      .part("msg_a", "r", { type: "reasoning", text: "", time: { start: 1 } })
      .delta("msg_a", "r", "Hm.")
      .part("msg_a", "p", text("", false))
      .delta("msg_a", "p", "Yes.")
      .part("msg_a", "r", { type: "reasoning", text: "Hm.", time: { start: 1, end: 2 } })
      .part("msg_a", "p", text("Yes."))
      .done("msg_a")
      .idle()
      .replay();
    const item = told.of("item.completed").at(-1)?.item;
    expect(item?.content).toEqual([
      { type: "reasoning", text: "Hm.", visibility: "public" },
      { type: "text", text: "Yes." },
    ]);
    expect(told.faults).toEqual([]);
  });

  it("text the agent put into the user's message is a system item", () => {
    const told = new Wire()
      .begun()
      .part("msg_u", "s", { type: "text", text: "Called the Read tool", synthetic: true })
      .done("msg_a")
      .idle()
      .replay();
    expect(told.items).toEqual(["user completed: hi", "system completed: Called the Read tool", "assistant completed: "]);
  });

  it("a message that was read again over HTTP is not told again", () => {
    const list = [
      {
        info: { id: "msg_u", sessionID: SESSION, role: "user", time: { created: 2 } },
        parts: [{ id: "msg_u_p", messageID: "msg_u", sessionID: SESSION, type: "text", text: "hi" }],
      },
      {
        info: { id: "msg_a", sessionID: SESSION, role: "assistant", time: { created: 3, completed: 9 }, finish: "stop" },
        parts: [{ id: "p", messageID: "msg_a", sessionID: SESSION, ...text("Hello") }],
      },
    ];
    const wire = new Wire().begun().part("msg_a", "p", text("Hello")).done("msg_a").idle();
    const before = wire.replay().events.length;
    expect(wire.ask("GET", `/session/${SESSION}/message`, undefined, 200, list).replay().events.length).toBe(before);
  });

  it("what a stream missed is told from the list that was read", () => {
    const list = [
      {
        info: {
          id: "msg_a",
          sessionID: SESSION,
          role: "assistant",
          parentID: "msg_u",
          time: { created: 3, completed: 9 },
          finish: "stop",
        },
        parts: [{ id: "p", messageID: "msg_a", sessionID: SESSION, ...text("Missed") }],
      },
    ];
    const told = new Wire()
      .created()
      .prompt("hi")
      .user("msg_u", "hi")
      .status("busy")
      .ask("GET", "/session/status", undefined, 200, {})
      .ask("GET", `/session/${SESSION}/message`, undefined, 200, list)
      .replay();
    expect(told.items).toEqual(["user completed: hi", "assistant completed: Missed"]);
    expect(told.stops).toEqual(["end_turn"]);
  });

  it("a resumed session does not repeat its past", () => {
    const old = [
      {
        info: { id: "msg_o", sessionID: SESSION, role: "assistant", time: { created: 5, completed: 6 }, finish: "stop" },
        parts: [{ id: "p", messageID: "msg_o", sessionID: SESSION, ...text("Old") }],
      },
    ];
    const wire = new Wire().ask("GET", `/session/${SESSION}`, undefined, 200, {
      id: SESSION,
      title: "t",
      time: { created: 1, updated: 10 },
    });
    expect(wire.ask("GET", `/session/${SESSION}/message`, undefined, 200, old).replay().items).toEqual([]);
  });

  it("a message whose first word is written late looks finished before its parts: nothing of it is lost", () => {
    const told = new Wire()
      .created()
      .prompt("hi")
      .user("msg_u", "hi")
      .status("busy")
      .done("msg_a", "tool-calls")
      .status("busy")
      .user("msg_u", "hi")
      .part("msg_a", "s", { type: "step-start" })
      .delta("msg_a", "p", "All of it")
      .part("msg_a", "p", text("All of it"))
      .done("msg_a", "stop", { tokens: { input: 5, output: 6 } })
      .idle()
      .replay();
    expect(told.items).toEqual(["user completed: hi", "assistant completed: All of it"]);
    expect(told.of("turn.ended")[0]?.usage?.input_tokens).toBe(5);
    expect(told.of("step.started")).toHaveLength(1);
  });

  it("a fork does not tell the messages of its origin again", () => {
    const wire = new Wire().created();
    const id = wire.request("POST", `/session/${SESSION}/fork`, {});
    const info = { id: "ses_f", title: "t (fork #1)", directory: "/p", time: { created: 5, updated: 5 } };
    const told = wire
      .event("session.created", { sessionID: "ses_f", info })
      .user("msg_u", "hi", "ses_f")
      .done("msg_a", "stop", {}, "ses_f")
      .part("msg_a", "p", text("Copied"), "ses_f")
      .answer(id, 200, info)
      .prompt("go", "ses_f")
      .event("message.updated", {
        sessionID: "ses_f",
        info: { id: "msg_n", sessionID: "ses_f", role: "user", time: { created: 9 } },
      })
      .part("msg_n", "q", text("go"), "ses_f")
      .idle("ses_f")
      .idle("ses_f")
      .replay();
    const fork = told.replay.sessions.find(({ native_session }) => native_session === "ses_f");
    const items = fork?.events.flatMap((event) => (event.type === "item.completed" ? [event.data.item.content] : []));
    expect(items).toEqual([[{ type: "text", text: "go" }]]);
    expect(told.faults).toEqual([]);
  });

  it("a message that failed before it said anything is no item", () => {
    const fault = { name: "APIError", data: { message: "Bad key", statusCode: 401, isRetryable: false } };
    const told = new Wire()
      .begun()
      .part("msg_a", "s", { type: "step-start" })
      .error("APIError", fault.data)
      .idle()
      .done("msg_a", null, { error: fault })
      .idle()
      .replay();
    expect(told.items).toEqual(["user completed: hi"]);
    expect(told.of("auth.status")).toEqual([{ status: "required", message: "Bad key" }]);
    expect(told.faults).toEqual([]);
  });

  it("the native message is the event itself, and recordings that name its stream are read too", () => {
    const event = { id: "e1", type: "session.created", properties: { info: { id: "ses_r", title: "t" } } };
    const rows = [{ payload: event }, { stream: "/global/event", json: { payload: { ...event, id: "e2" } } }];
    for (const data of rows) {
      const [translation] = new OpencodeTranslator().translate({ dir: "sse", data });
      expect(translation).toMatchObject({ session: "ses_r", type: "session.created", disposition: "mapped" });
    }
  });

  it("the messages of a fork come finished before their parts", () => {
    const told = new Wire()
      .created("ses_f")
      .user("msg_u", "hi", "ses_f")
      .done("msg_a", "stop", { tokens: { input: 5, output: 5 } }, "ses_f")
      .part("msg_a", "p", text("Copied"), "ses_f")
      .prompt("go", "ses_f")
      .replay();
    expect(told.items).toEqual(["user completed: hi", "assistant completed: Copied"]);
    expect(told.faults).toEqual([]);
  });
});

describe("turns", () => {
  it("after an error idle comes twice: the turn ends with the second, the error is told once", () => {
    const fault = { name: "APIError", data: { message: "Bad key", statusCode: 401, isRetryable: false } };
    const told = new Wire().begun().error("APIError", fault.data).idle().done("msg_a", null, { error: fault }).idle().replay();
    expect(told.of("error")).toEqual([
      { message: "Bad key", code: "provider_auth", details: { error_source: "provider", native_code: 401, retryable: false } },
    ]);
    expect(told.stops).toEqual(["error provider_auth"]);
    expect(told.events.findIndex(({ type }) => type === "turn.ended")).toBeGreaterThan(
      told.events.findLastIndex(({ type }) => type === "item.completed"),
    );
    expect(told.faults).toEqual([]);
  });

  it("an abort is an interruption, not an error", () => {
    const wire = new Wire().begun().delta("msg_a", "p", "Half");
    wire
      .ask("POST", `/session/${SESSION}/abort`, undefined, 200, true)
      .error("MessageAbortedError", { message: "Aborted" })
      .idle();
    const told = wire
      .part("msg_a", "p", text("Half"))
      .done("msg_a", null, { error: { name: "MessageAbortedError", data: { message: "Aborted" } } })
      .idle()
      .replay();
    expect(told.stops).toEqual(["interrupted"]);
    expect(told.of("error")).toEqual([]);
    expect(told.items.at(-1)).toBe("assistant failed: Half");
  });

  it("an abort while it waits for a retry says nothing: no error, no finish, one idle", () => {
    const told = new Wire()
      .begun()
      .status("retry", { attempt: 1.2, message: "Slow down", next: 1000 })
      .done("msg_a", null)
      .idle()
      .replay();
    expect(told.stops).toEqual(["interrupted"]);
    expect(told.of("session.status")).toContainEqual({
      status: "retrying",
      detail: "Slow down",
      attempt: 1,
      retry_at: "1970-01-01T00:00:01.000Z",
    });
  });

  it("an unknown model is said twice, the second time as a stack trace after idle", () => {
    const stack = "ProviderModelNotFoundError: Model not found: a/b.\n    at getModel (x.js:1:1)";
    const told = new Wire()
      .created()
      .prompt("hi")
      .user("msg_u", "hi")
      .status("busy")
      .error("UnknownError", { message: "Model not found: a/b." })
      .idle()
      .error("UnknownError", { message: stack })
      .replay();
    expect(told.of("error").map(({ message }) => message)).toEqual(["Model not found: a/b."]);
    expect(told.stops).toEqual(["error api_error"]);
  });

  it("an error that comes after idle is the turn's error, not an error outside of any turn", () => {
    const wire = new Wire().created().prompt("hi").user("msg_u", "hi").status("busy").idle();
    const told = wire.error("UnknownError", { message: "ENOENT: the directory is gone" }).replay();
    expect(told.stops).toEqual(["error unknown"]);
    expect(told.of("error")).toHaveLength(1);
    expect(told.faults).toEqual([]);
  });

  it("a turn that goes idle without any answer ends with an error once the messages were read again", () => {
    const wire = new Wire().created().prompt("hi").user("msg_u", "hi").status("busy").idle();
    wire.ask("GET", "/session/status?directory=/p", undefined, 200, {});
    const told = wire.ask("GET", `/session/${SESSION}/message?directory=/p`, undefined, 200, []).replay();
    expect(told.stops).toEqual(["error execution_error"]);
    expect(told.of("error")).toMatchObject([{ details: { native_code: "no_answer", retryable: true } }]);
    expect(told.faults).toEqual([]);
  });

  it("a status that was asked for before the prompt took effect does not end the turn", () => {
    const wire = new Wire().created();
    const asked = wire.request("GET", "/session/status?directory=/p");
    wire.prompt("hi").answer(asked, 200, {}).user("msg_u", "hi").status("busy");
    wire.ask("GET", `/session/${SESSION}/message?directory=/p`, undefined, 200, []);
    const late = new Wire().created().prompt("hi");
    const between = late.request("GET", "/session/status?directory=/p");
    late.user("msg_u", "hi").status("busy").answer(between, 200, {});
    late.ask("GET", `/session/${SESSION}/message?directory=/p`, undefined, 200, []);
    for (const each of [wire, late]) {
      each
        .assistant("msg_a")
        .part("msg_a", "p", { type: "text", text: "Yes.", time: { start: 1, end: 2 } })
        .done("msg_a")
        .idle();
      const told = each.replay();
      expect(told.stops).toEqual(["end_turn"]);
      expect(told.of("item.completed").every(({ item }) => item.turn_id !== null)).toBe(true);
      expect(told.faults).toEqual([]);
    }
  });

  it("an unknown agent gives two errors and neither status nor idle: the turn ends all the same", () => {
    const told = new Wire()
      .created()
      .prompt("hi")
      .error("UnknownError", { message: "Agent not found" })
      .error("UnknownError", { message: "UnknownError: x\n    at y (z.js:1:1)" })
      .replay();
    expect(told.stops).toEqual(["error unknown"]);
    expect(told.of("error")).toHaveLength(1);
  });

  it("an error before the message that does not stop the run is no failed turn", () => {
    const told = new Wire()
      .created()
      .prompt("hi")
      .error("UnknownError", { message: "File not found" })
      .user("msg_u", "hi")
      .status("busy")
      .assistant("msg_a")
      .done("msg_a")
      .idle()
      .replay();
    expect(told.stops).toEqual(["end_turn"]);
    expect(told.of("error")).toHaveLength(1);
  });

  it("a context overflow that compaction heals is no error", () => {
    const wire = new Wire().begun().error("ContextOverflowError", { message: "Too long" }).done("msg_a", null);
    wire.event("message.updated", {
      sessionID: SESSION,
      info: { id: "msg_c", sessionID: SESSION, role: "user", time: { created: 4 } },
    });
    wire
      .part("msg_c", "c", { type: "compaction", auto: true, overflow: true })
      .assistant("msg_s", { summary: true, parentID: "msg_c" })
      .part("msg_s", "s", text("Summary"))
      .done("msg_s", "stop", { summary: true });
    const told = wire
      .event("session.compacted", { sessionID: SESSION })
      .assistant("msg_b")
      .part("msg_b", "b", text("Going on"))
      .done("msg_b")
      .idle()
      .replay();
    expect(told.of("error")).toEqual([]);
    expect(told.of("session.compacted")).toEqual([{ trigger: "auto", summary: "Summary" }]);
    expect(told.of("session.status").map(({ status }) => status)).toEqual(["running", "compacting", "running", "idle"]);
    expect(told.items).toEqual(["user completed: hi", "system completed: Summary", "assistant completed: Going on"]);
  });

  it("a context overflow that nothing heals is told once", () => {
    const fault = { name: "ContextOverflowError", data: { message: "Too long" } };
    const told = new Wire().begun().error(fault.name, fault.data).idle().done("msg_a", "error", { error: fault }).idle().replay();
    expect(told.of("error").map(({ code }) => code)).toEqual(["context_overflow"]);
    expect(told.stops).toEqual(["error context_overflow"]);
  });

  it.each([
    ["length", "output_length"],
    ["content-filter", "refusal"],
    ["stop", "end_turn"],
  ])("finish %s ends the turn as %s", (finish, stop) => {
    expect(new Wire().begun().done("msg_a", finish).idle().replay().stops).toEqual([stop]);
  });

  it("a prompt sent into a running turn joins it: one idle, one turn", () => {
    const told = new Wire()
      .begun()
      .prompt("more")
      .user("msg_v", "more")
      .done("msg_a")
      .assistant("msg_b", { parentID: "msg_v" })
      .done("msg_b")
      .idle()
      .replay();
    expect(told.of("turn.started")).toHaveLength(1);
    expect(told.items).toEqual(["user completed: hi", "assistant completed: ", "user completed: more", "assistant completed: "]);
    expect(told.faults).toEqual([]);
  });

  it("a message without a reply is no turn", () => {
    const parts = [{ id: "msg_u_p", messageID: "msg_u", sessionID: SESSION, type: "text", text: "Note" }];
    const body = { info: { id: "msg_u", sessionID: SESSION, role: "user", time: { created: 2 } }, parts };
    const told = new Wire()
      .created()
      .ask("POST", `/session/${SESSION}/message`, { noReply: true, parts: [] }, 200, body)
      .user("msg_u", "Note")
      .replay();
    expect(told.of("turn.started")).toEqual([]);
    expect(told.items).toEqual(["user completed: Note"]);
  });

  it("a refused prompt is a failed turn that shows the message", () => {
    const told = new Wire()
      .created()
      .ask("POST", `/session/${SESSION}/prompt_async`, { parts: [{ type: "text", text: "hi" }] }, 400, {
        name: "BadRequest",
        data: { message: "No" },
      })
      .replay();
    expect(told.items).toEqual(["user failed: hi"]);
    expect(told.stops).toEqual(["error execution_error"]);
  });

  it("another client's message opens a turn of a client, work without one a turn of the agent", () => {
    const told = new Wire()
      .created()
      .user("msg_u", "theirs")
      .status("busy")
      .idle()
      .status("busy")
      .assistant("msg_a")
      .done("msg_a")
      .idle()
      .replay();
    expect(told.of("turn.started").map(({ initiator }) => initiator)[0]).toBe("client");
  });

  it("a history that is read before anything else was told by an earlier process, and the next prompt opens a turn", () => {
    const past = [
      {
        info: { id: "msg_a", sessionID: SESSION, role: "assistant", time: { created: 3 } },
        parts: [{ id: "p", messageID: "msg_a", sessionID: SESSION, type: "text", text: "Half", time: { start: 1 } }],
      },
    ];
    const told = new Wire()
      .ask("GET", `/session/${SESSION}/message`, undefined, 200, past)
      .prompt("again")
      .event("message.updated", {
        sessionID: SESSION,
        info: { id: "msg_v", sessionID: SESSION, role: "user", time: { created: 5 } },
      })
      .part("msg_v", "v", { type: "text", text: "again" })
      .status("busy")
      .assistant("msg_b", { parentID: "msg_v", time: { created: 6 } })
      .part("msg_b", "q", text("Back"))
      .done("msg_b")
      .idle()
      .ask("GET", `/session/${SESSION}/message`, undefined, 200, past)
      .row("exit", { code: 0, signal: null })
      .replay();
    expect(told.faults).toEqual([]);
    expect(told.items).toEqual(["user completed: again", "assistant completed: Back"]);
    const types = told.events.map(({ type }) => type);
    expect(types.indexOf("turn.started")).toBeLessThan(types.indexOf("item.started"));
  });

  it("a step of the newer routes that fails before it said anything is its error alone", () => {
    const failed = (message: string) =>
      new Wire()
        .created()
        .event("session.next.prompted", { sessionID: SESSION, messageID: "msg_u", prompt: { text: "hi" } })
        .event("session.next.step.started", { sessionID: SESSION, assistantMessageID: "msg_a" })
        .event("session.next.step.failed", {
          sessionID: SESSION,
          assistantMessageID: "msg_a",
          error: { type: "unknown", message },
        })
        .replay();
    const refused = failed(
      'Provider request failed with HTTP 413: {"error":{"message":"Too large.","type":"request_too_large"}}',
    );
    expect(refused.faults).toEqual([]);
    expect(refused.items).toEqual(["user completed: hi"]);
    expect(refused.of("error")).toMatchObject([{ message: "Too large.", code: "context_overflow" }]);
    expect(refused.stops).toEqual(["error context_overflow"]);
    expect(failed("Provider request failed with HTTP 401: no").stops).toEqual(["error provider_auth"]);
    expect(failed("Provider turn interrupted").stops).toEqual(["interrupted"]);
  });

  it("the death of the server ends the turn, and what is read afterwards is not told again", () => {
    const half = [
      {
        info: { id: "msg_a", sessionID: SESSION, role: "assistant", time: { created: 3 } },
        parts: [{ id: "p", messageID: "msg_a", sessionID: SESSION, type: "text", text: "", time: { start: 1 } }],
      },
    ];
    const wire = new Wire().begun().delta("msg_a", "p", "Half").row("exit", { code: null, signal: "SIGKILL" });
    const told = wire
      .ask("GET", `/session/${SESSION}/message`, undefined, 200, half)
      .prompt("again")
      .user("msg_v", "again")
      .status("busy")
      .assistant("msg_b", { parentID: "msg_v" })
      .part("msg_b", "q", text("Back"))
      .done("msg_b")
      .idle()
      .row("exit", { code: 0, signal: null })
      .replay();
    expect(told.items).toEqual([
      "user completed: hi",
      "assistant failed: Half",
      "user completed: again",
      "assistant completed: Back",
    ]);
    expect(told.stops).toEqual(["error execution_error", "end_turn"]);
    expect(told.faults).toEqual([]);
  });

  it("a deleted session ends its turn, though its message is never closed", () => {
    const told = new Wire()
      .begun()
      .event("session.deleted", { sessionID: SESSION, info: { id: SESSION } })
      .error("MessageAbortedError", { message: "Aborted" })
      .idle()
      .replay();
    expect(told.stops).toEqual(["interrupted"]);
    expect(told.of("error")).toMatchObject([{ details: { native_code: "session_deleted", retryable: false } }]);
    expect(told.faults).toEqual([]);
  });

  it("a session that is deleted while it rests says so once, and that of a sub-agent says nothing", () => {
    const wire = new Wire().begun().done("msg_a").idle();
    const deleted = (id: string) => wire.event("session.deleted", { sessionID: id, info: { id } });
    wire.event("session.created", { sessionID: "ses_kid", info: { id: "ses_kid", parentID: SESSION } });
    deleted("ses_kid");
    deleted(SESSION);
    const told = deleted(SESSION).replay();
    expect(told.stops).toEqual(["end_turn"]);
    expect(told.of("error")).toMatchObject([{ code: "execution_error", details: { native_code: "session_deleted" } }]);
    expect(told.replay.unexplained).toEqual([]);
    expect(told.faults).toEqual([]);
  });

  it("what a deleted session had asked is withdrawn, also between turns and of a sub-agent", () => {
    const wire = new Wire().begun();
    wire.event("session.created", { sessionID: "ses_kid", info: { id: "ses_kid", parentID: SESSION } });
    const asked = {
      id: "per_1",
      sessionID: "ses_kid",
      permission: "bash",
      patterns: ["ls"],
      metadata: { command: "ls" },
      always: [],
    };
    wire.event("permission.asked", asked).event("session.deleted", { sessionID: "ses_kid", info: { id: "ses_kid" } });
    wire.done("msg_a").idle();
    const questions = [{ question: "Which?", header: "W", options: [{ label: "A", description: "a" }] }];
    wire.event("question.asked", { id: "que_1", sessionID: SESSION, questions });
    const told = wire.event("session.deleted", { sessionID: SESSION, info: { id: SESSION } }).replay();
    expect(told.of("permission.resolved")).toMatchObject([{ status: "denied", metadata: { resolved_by: "agent" } }]);
    expect(told.of("question.resolved")).toMatchObject([{ status: "rejected", resolved_by: "agent" }]);
    expect(told.of("session.status").at(-1)).toMatchObject({ status: "idle" });
    expect(told.faults).toEqual([]);
  });

  it.each([
    [{ name: "BrandNewError", data: { message: "Pay.", statusCode: 402 } }, "Pay.", "api_error"],
    [{ name: "BrandNewError", data: { message: "Slower.", statusCode: 429 } }, "Slower.", "rate_limit"],
    [{ name: "BrandNewError", data: { message: "Odd." } }, "Odd.", "unknown"],
    ["boom", "boom", "unknown"],
  ])("an error of an unknown form says what it can: %j", (error, message, code) => {
    const told = new Wire().begun().event("session.error", { sessionID: SESSION, error }).idle().idle().replay();
    expect(told.of("error")).toMatchObject([{ message, code }]);
  });

  it("an idle of a session that does not exist is nobody's", () => {
    expect(new Wire().created().idle("ses_unknown").replay().replay.sessions).toHaveLength(1);
  });
});
