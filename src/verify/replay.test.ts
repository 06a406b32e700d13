import { describe, expect, it } from "vitest";
import type { Translation, Translator } from "../agents/contract.ts";
import { mockAgent } from "../agents/mock/agent.ts";
import { replayTrace, type TraceRow } from "./replay.ts";

const row = (data: unknown, dir: TraceRow["dir"] = "out", t_ms = 0): TraceRow => ({ t_ms, dir, data });

describe("replay", () => {
  it("tells a trace with its own clock and counted ids, and keeps the native message with each event", () => {
    const rows = [
      row({ type: "hello", session: "s", resumed: false, remembered: 0 }),
      row({ type: "turn", id: "1", by: "client" }, "out", 1500),
      row({ type: "done", reason: "end_turn" }, "out", 2500),
    ];
    const [session] = replayTrace(mockAgent.createTranslator, rows, { location: "mock" }).sessions;
    const ended = session?.events.find((event) => event.type === "turn.ended");
    expect(ended).toMatchObject({ time: "2026-01-01T00:00:02.500Z", session_id: "sess_1", raw: { type: "done" } });
    expect(session?.violations).toEqual([]);
  });

  it("ends the session at the last exit only; before it the session is dormant", () => {
    const hello = row({ type: "hello", session: "s", resumed: true, remembered: 0 });
    const turn = row({ type: "turn", id: "1", by: "client" });
    const rows = [
      hello,
      turn,
      row({ code: null, signal: "SIGKILL" }, "exit"),
      hello,
      turn,
      row({ code: 143, signal: null }, "exit"),
    ];
    const [session] = replayTrace(mockAgent.createTranslator, rows, { location: "mock" }).sessions;
    const told = session?.events.flatMap((event) =>
      event.type === "turn.ended" || event.type === "session.ended" || event.type === "session.status" ? [event.data] : [],
    );
    expect(told).toContainEqual({ status: "dormant" });
    expect(session?.events.at(-1)).toMatchObject({ type: "session.ended", data: { reason: "completed" } });
    expect(session?.violations).toEqual([]);
  });

  it("[L3] goes on after an exit that another process follows, also when the last process is still alive", () => {
    const hello = row({ type: "hello", session: "s", resumed: true, remembered: 0 });
    const rows = [
      hello,
      row({ type: "turn", id: "1", by: "client" }),
      row({ code: null, signal: "SIGKILL" }, "exit"),
      row("last words", "err"),
      hello,
      row({ type: "turn", id: "2", by: "client" }),
      row({ type: "text", m: "m", d: "second life" }),
      row({ type: "message_end", m: "m" }),
      row({ type: "done", reason: "end_turn" }),
    ];
    const [session] = replayTrace(mockAgent.createTranslator, rows, { location: "mock" }).sessions;
    const ends = session?.events.flatMap((event) => (event.type === "turn.ended" ? [event.data.stop_reason] : []));
    expect(ends).toEqual(["interrupted", "end_turn"]);
    expect(JSON.stringify(session?.events)).toContain("second life");
    expect(session?.events.some((event) => event.type === "session.ended")).toBe(false);
    expect(session?.violations).toEqual([]);
  });

  it("[L3] a recording of two processes gives each a translator of its own, and the keys of the second are its own", () => {
    const life = (word: string): TraceRow[] => [
      row({ type: "hello", session: "s", resumed: true, remembered: 0 }),
      row({ type: "turn", id: word, by: "client" }),
      row({ type: "text", m: "m", d: word }),
    ];
    const rows = [
      ...life("first"),
      row({ code: null, signal: "SIGKILL" }, "exit"),
      row("last words", "err"),
      ...life("second"),
      row({ type: "message_end", m: "m" }),
      row({ type: "done", reason: "end_turn" }),
    ];
    const madeBy: string[] = [];
    let made = 0;
    const make = (): Translator => {
      const number = ++made;
      const translator = mockAgent.createTranslator();
      return {
        translate: (message) => {
          madeBy.push(`${number} ${message.dir}`);
          return translator.translate(message);
        },
      };
    };
    const { sessions } = replayTrace(make, rows, { location: "mock" });
    // One more to begin with.
    expect(madeBy).toEqual([...Array(3).fill("2 out"), "2 exit", "2 err", ...Array(5).fill("3 out")]);
    const texts = sessions[0]?.events.flatMap((event) =>
      event.type === "item.completed" && event.data.item.role === "assistant" ? [event.data.item.content] : [],
    );
    expect(texts).toMatchObject([[{ text: "first" }], [{ text: "second" }]]);
    expect(sessions[0]?.violations).toEqual([]);
  });

  it("[L3] tells what the daemon decided between the messages, and gives each process a translator of its own", () => {
    const hello = row({ type: "hello", session: "s", resumed: true, remembered: 0 });
    const turn = row({ type: "turn", id: "1", by: "client" });
    const rows = [
      row({ do: "process", fresh_keys: true }, "daemon"),
      hello,
      turn,
      row({ do: "say", drafts: [{ do: "event", type: "session.updated", data: { title: "A name" } }] }, "daemon"),
      row({ code: null, signal: "SIGKILL" }, "exit"),
      row(
        { do: "lost", exit: { code: null, signal: "SIGKILL", stderr: { head: null, tail: null, truncated: false } } },
        "daemon",
      ),
      row({ do: "process", fresh_keys: true }, "daemon"),
      hello,
      turn,
      row({ do: "from_the_future" }, "daemon"),
      row({ do: "cut", dormant: true }, "daemon"),
      row({ do: "end", data: { reason: "terminated", terminated_by: "daemon" } }, "daemon"),
    ];
    let made = 0;
    const make = (): Translator => {
      made++;
      return mockAgent.createTranslator();
    };
    const { sessions, totals } = replayTrace(make, rows, { location: "mock" });
    const told = sessions[0]?.events.flatMap((event) => {
      if (event.type === "turn.ended") return [`${event.type} ${event.data.stop_reason}`];
      if (event.type === "session.updated") return event.data.title === undefined ? [] : [event.data.title];
      return event.type === "session.ended" ? [event.data.reason] : [];
    });
    expect(told).toEqual(["A name", "turn.ended error", "turn.ended interrupted", "terminated"]);
    expect(sessions[0]?.violations).toEqual([]);
    // One to begin with, for traces that name no process.
    expect([made, totals.mapped]).toEqual([3, 5]);
  });

  it("gives each native session its own, and what concerns all to all; an address that is bound later leads there", () => {
    const say = (session: string | null, name: string, bind?: string): Translation => ({
      session,
      type: name,
      disposition: "noted",
      drafts: [{ do: "event", type: "agent.notice", data: { name } }],
      ...(bind === undefined ? {} : { bind: { from: bind } }),
    });
    const script: Record<string, Translation> = {
      early: say("req:1", "early"),
      bound: say("b", "bound", "req:1"),
      all: say(null, "all"),
      a: say("a", "a"),
    };
    const translator: Translator = { translate: ({ data }) => [script[String(data)] ?? say(null, "?")] };
    const { sessions } = replayTrace(
      () => translator,
      ["early", "bound", "all", "a"].map((data) => row(data)),
      { location: "x" },
    );
    const notices = sessions.map((session) =>
      session.events.flatMap((event) => (event.type === "agent.notice" ? [event.data.name] : [])),
    );
    expect(Object.fromEntries(sessions.map((session, index) => [session.native_session, notices[index]]))).toEqual({
      b: ["early", "bound", "all"],
      a: ["all", "a"],
    });
    expect(new Set(sessions.map((session) => session.session_id)).size).toBe(2);
  });

  it("calls a translator that throws or says nothing unparsed, and goes on", () => {
    let calls = 0;
    const translator: Translator = {
      translate: () => {
        if (++calls === 1) throw new Error("a fault of ours");
        return [];
      },
    };
    const replay = replayTrace(() => translator, [row(1), row(2)], { location: "x" });
    expect(replay.totals.unparsed).toBe(2);
    expect(replay.unparsed.map(({ row: number, type }) => [number, type])).toEqual([
      [1, "fault"],
      [2, "silent"],
    ]);
  });
});
