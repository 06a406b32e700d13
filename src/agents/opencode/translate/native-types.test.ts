// Holds the table of native types against the server's own OpenAPI document, and against what the translator really does with each of them.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { rec } from "../../json.ts";
import { readError } from "./errors.ts";
import { ERROR_CODES, EVENT_TYPES, PART_TYPES, SESSION_STATUSES, TOOL_STATES } from "./native-types.ts";
import { OpencodeTranslator } from "./translator.ts";

const lists = rec(JSON.parse(readFileSync(new URL("./generated/events.json", import.meta.url), "utf8")));
const names = (list: string): string[] => (lists[list] as string[] | undefined) ?? [];
/** Sent by 1.18, but missing in its document. */
const UNDOCUMENTED = ["server.heartbeat"];

const SESSION = "ses_1";
const send = (translator: OpencodeTranslator, type: string, properties: unknown) =>
  translator.translate({ dir: "sse", data: { stream: "/event", json: { id: `evt_${Math.random()}`, type, properties } } });

/** Enough of each event's fields that none is missed for want of them. */
const properties = (type: string) => ({
  sessionID: SESSION,
  id: type.startsWith("question") ? "que_1" : "per_1",
  info: { id: type.startsWith("session") ? SESSION : "msg_1", sessionID: SESSION, role: "assistant", time: { created: 1 } },
  part: { id: "prt_1", sessionID: SESSION, messageID: "msg_1", type: "text", text: "hello" },
  status: { type: "busy" },
  messageID: "msg_1",
  assistantMessageID: "msg_1",
  partID: "prt_1",
  callID: "call_1",
  delta: "a",
  requestID: "per_1",
  reply: "once",
  text: "a",
  questions: [],
  todos: [],
  patterns: [],
  always: [],
  metadata: {},
  prompt: { text: "hi" },
  location: { directory: "/x" },
  revert: { messageID: "msg_1" },
  error: { name: "UnknownError", data: { message: "x" } },
});

describe("the table of native types", () => {
  it("names every event of the server's document and no other", () => {
    expect(Object.keys(EVENT_TYPES).sort()).toEqual([...names("events"), ...UNDOCUMENTED].sort());
  });

  it("names every part, tool state and session status", () => {
    expect(Object.keys(PART_TYPES).sort()).toEqual(names("parts"));
    expect(Object.keys(TOOL_STATES).sort()).toEqual(names("tool_states"));
    expect(Object.keys(SESSION_STATUSES).sort()).toEqual(names("session_statuses"));
  });

  it("gives every error name a canonical code", () => {
    expect(Object.keys(ERROR_CODES).sort()).toEqual(names("errors"));
    for (const [name, meaning] of Object.entries(ERROR_CODES))
      expect(meaning).toContain(readError({ name, data: { message: "x" } }).error.code);
  });

  it.each(names("events").filter((type) => type !== "sync"))("%s has the disposition the table says", (type) => {
    const translator = new OpencodeTranslator();
    send(translator, "session.created", { sessionID: SESSION, info: { id: SESSION, title: "t" } });
    const [translation] = send(translator, type, properties(type));
    expect(translation?.disposition, translation?.error).toBe(EVENT_TYPES[type]?.disposition);
  });

  it.each(names("parts").filter((type) => type !== "tool"))("a %s part is understood", (type) => {
    const translator = new OpencodeTranslator();
    const part = {
      id: "prt_1",
      sessionID: SESSION,
      messageID: "msg_1",
      type,
      files: ["/a"],
      prompt: "p",
      url: "file:///a",
      snapshot: "s",
    };
    const [translation] = send(translator, "message.part.updated", { sessionID: SESSION, part });
    expect(translation?.disposition).toBe("mapped");
  });

  it.each(names("tool_states"))("a tool part in state %s is understood", (status) => {
    const translator = new OpencodeTranslator();
    const state = { status, input: {}, output: "o", error: "e", time: { start: 1, end: 2 } };
    const part = { id: "prt_1", sessionID: SESSION, messageID: "msg_1", type: "tool", tool: "bash", callID: "c", state };
    const [translation] = send(translator, "message.part.updated", { sessionID: SESSION, part });
    expect(translation?.disposition).toBe("mapped");
    expect(translation?.type).toBe(`message.part.updated:tool/${status}`);
  });

  it("what a later version adds is unparsed, never dropped", () => {
    const translator = new OpencodeTranslator();
    send(translator, "session.created", { sessionID: SESSION, info: { id: SESSION } });
    const part = (more: object) => ({ sessionID: SESSION, part: { id: "p", sessionID: SESSION, messageID: "m", ...more } });
    const unknown = [
      send(translator, "session.sang", { sessionID: SESSION }),
      send(translator, "session.next.hummed", { sessionID: SESSION }),
      send(translator, "message.part.updated", part({ type: "song" })),
      send(translator, "message.part.updated", part({ type: "tool", tool: "bash", callID: "c", state: { status: "dreaming" } })),
      send(translator, "session.status", { sessionID: SESSION, status: { type: "asleep" } }),
      translator.translate({ dir: "sse", data: { stream: "/event", text: "not JSON" } }),
      translator.translate({ dir: "http", data: { phase: "telepathy" } }),
    ];
    for (const translations of unknown) expect(translations[0]?.disposition).toBe("unparsed");
  });
});
