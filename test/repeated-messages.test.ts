/**
 * Messages that repeat the one before are not parsed and translated one by one. Whatever an agent says, what is recorded and what it means is the same as when
 * they are.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { QUIRKS } from "../src/agents/acp/translate/quirks.ts";
import { AcpTranslator } from "../src/agents/acp/translate/translator.ts";
import { ADDRESS } from "../src/agents/claude/translate/state.ts";
import { ClaudeTranslator } from "../src/agents/claude/translate/translator.ts";
import { CodexTranslator } from "../src/agents/codex/translate/translator.ts";
import type { SessionPort, Translator } from "../src/agents/contract.ts";
import { createMockTranslator, MOCK_SESSION } from "../src/agents/mock/translate/translator.ts";
import { type Intake, NativeChannel } from "../src/session/channel.ts";
import { NdjsonChannel } from "../src/transports/ndjson-stdio.ts";

const RUNS = Number(process.env.DRAGOMAN_REPEAT_RUNS ?? 100);
const port = { closed: () => {}, say: () => {} } as unknown as SessionPort;

/** A line of the agent, or a message to it. */
type Said = { line: string | Buffer } | { sent: unknown };

/** What is recorded and what it means, one text a message; `repeats` says how many were not translated by themselves. */
function played(make: () => Translator, sessions: string[], said: Said[], alike: boolean): { rows: string[]; repeats: number } {
  const rows: string[] = [];
  const intake: Intake = {
    attached: () => {},
    ingest: ({ dir, raw }, translations) =>
      void rows.push(
        JSON.stringify([dir, Buffer.from(raw).toString("latin1"), translations.map(({ repeat: _, ...rest }) => rest)]),
      ),
  };
  const translator = make();
  let translated = 0;
  const counting: Translator = {
    ...(translator.silence ? { silence: translator.silence } : {}),
    translate: (message) => {
      translated++;
      return translator.translate(message);
    },
  };
  const channel = new NativeChannel(counting, () => intake);
  for (const session of sessions) channel.attach(session, port);
  const lines = new NdjsonChannel({
    onMessage: (message) => {
      const repeated = channel.record("out", message.raw, message.value);
      if (alike) message.next = repeated;
    },
    onGarbage: ({ raw, error }) => {
      translated++;
      channel.unparsed("out", raw, error);
    },
    onOversize: () => {},
    write: () => true,
  });
  for (const each of said)
    if ("line" in each) lines.feed(Buffer.concat([Buffer.from(each.line), Buffer.from("\n")]));
    else channel.record("in", JSON.stringify(each.sent), each.sent);
  return { rows, repeats: said.length - translated };
}

function expectSame(make: () => Translator, sessions: string[], said: Said[]): number {
  const one = played(make, sessions, said, true);
  const other = played(make, sessions, said, false);
  expect(one.rows).toEqual(other.rows);
  expect(other.repeats).toBe(0);
  return one.repeats;
}

const TEXTS = [
  ..."abc".split(""),
  "",
  "a longer one, of thirty letters",
  "日本 👍",
  "two\nlines",
  'a "word"',
  "[MODE_UPDATE] plan",
  "Warning: careful",
  "Info: read",
  "Context compacted",
  "API Error: 500",
  "stream disconnected before completion",
];
const text = fc.constantFrom(...TEXTS);
const [ONE, TWO] = ["s-1", "s-2"];
const UUID = "3f0c1f7e-58f5-4b0a-9d7c-3a3e6b5d9a10";

const update = (sessionId: string, more: object): Said => ({
  line: JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { sessionId, update: more } }),
});
const chunk = (sessionUpdate: string, session: string, messageId: string | undefined, said: string): Said =>
  update(session, { sessionUpdate, ...(messageId === undefined ? {} : { messageId }), content: { type: "text", text: said } });

const acpRun = fc
  .record({
    kind: fc.constantFrom("agent_message_chunk", "agent_message_chunk", "agent_thought_chunk", "user_message_chunk"),
    session: fc.constantFrom(ONE, ONE, TWO),
    id: fc.constantFrom(undefined, "m-1", "m-2", UUID),
    texts: fc.array(text, { minLength: 1, maxLength: 8 }),
  })
  .map(({ kind, session, id, texts }) => texts.map((each) => chunk(kind, session, id, each)));
const acpOther = fc.constantFrom<Said[]>(
  [
    {
      sent: {
        jsonrpc: "2.0",
        id: 1,
        method: "session/prompt",
        params: { sessionId: ONE, prompt: [{ type: "text", text: "go" }] },
      },
    },
  ],
  [{ sent: { jsonrpc: "2.0", method: "session/cancel", params: { sessionId: ONE } } }],
  [{ line: JSON.stringify({ jsonrpc: "2.0", id: 1, result: { stopReason: "end_turn" } }) }],
  [update(ONE, { sessionUpdate: "tool_call", toolCallId: "c-1", title: "ls", kind: "execute", status: "pending" })],
  [update(ONE, { sessionUpdate: "tool_call_update", toolCallId: "c-1", status: "completed" })],
  [update(ONE, { sessionUpdate: "usage_update", used: 1, size: 2 })],
  [{ line: "no JSON" }],
);

const mockRun = fc
  .record({
    type: fc.constantFrom("text", "text", "thought"),
    m: fc.constantFrom("1", "2"),
    texts: fc.array(text, { minLength: 1, maxLength: 8 }),
  })
  .map(({ type, m, texts }) => texts.map((d): Said => ({ line: JSON.stringify({ type, m, d }) })));
const mockOther = fc.constantFrom<Said[]>(
  [{ line: '{"type":"message_end","m":"1"}' }],
  [{ line: '{"type":"ping"}' }],
  [{ sent: { type: "interrupt" } }],
  [{ line: "{" }],
);

const codexRun = fc
  .record({
    method: fc.constantFrom("item/agentMessage/delta", "item/agentMessage/delta", "item/reasoning/summaryTextDelta"),
    threadId: fc.constantFrom(ONE, ONE, TWO),
    itemId: fc.constantFrom("i-1", "i-2"),
    texts: fc.array(fc.tuple(text, fc.nat(99)), { minLength: 1, maxLength: 8 }),
  })
  .map(({ method, threadId, itemId, texts }) =>
    texts.map(([delta, emittedAtMs]): Said => {
      const params = { threadId, turnId: "t-1", itemId, delta, ...(method.includes("summary") ? { summaryIndex: 0 } : {}) };
      return { line: JSON.stringify({ method, params, emittedAtMs }) };
    }),
  );
const codexOther = fc.constantFrom<Said[]>(
  [{ sent: { id: 1, method: "turn/start", params: { threadId: ONE, input: [{ type: "text", text: "go" }] } } }],
  [{ line: '{"method":"turn/started","params":{"threadId":"s-1","turn":{"id":"t-1"}},"emittedAtMs":1}' }],
  [
    {
      line: '{"method":"item/started","params":{"threadId":"s-1","turnId":"t-1","item":{"type":"agentMessage","id":"i-1","text":""}}}',
    },
  ],
  [
    {
      line: '{"method":"item/completed","params":{"threadId":"s-1","turnId":"t-1","item":{"type":"agentMessage","id":"i-1","text":"abc and more"}}}',
    },
  ],
  [{ line: '{"method":"turn/completed","params":{"threadId":"s-1","turn":{"id":"t-1","status":"completed"}}}' }],
);

const streamed = (event: object, uuid: number): Said => ({
  line: JSON.stringify({ type: "stream_event", event, session_id: ONE, parent_tool_use_id: null, uuid: `u-${uuid}` }),
});
const claudeRun = fc
  .record({
    kind: fc.constantFrom("text", "text", "thinking"),
    index: fc.constantFrom(0, 1),
    texts: fc.array(fc.tuple(text, fc.nat(99)), { minLength: 1, maxLength: 8 }),
  })
  .map(({ kind, index, texts }) =>
    texts.map(([each, uuid]) =>
      streamed({ type: "content_block_delta", index, delta: { type: `${kind}_delta`, [kind]: each } }, uuid),
    ),
  );
const claudeOther = fc.constantFrom<Said[]>(
  [streamed({ type: "message_start", message: { id: "msg-1", usage: { input_tokens: 1, output_tokens: 1 } } }, 1)],
  [streamed({ type: "message_start", message: { id: "msg-2" } }, 2)],
  [streamed({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }, 3)],
  [streamed({ type: "content_block_start", index: 1, content_block: { type: "thinking", thinking: "" } }, 4)],
  [streamed({ type: "message_stop" }, 5)],
  [
    {
      line: '{"type":"assistant","message":{"id":"msg-1","role":"assistant","content":[{"type":"text","text":"abc"}]},"session_id":"s-1","parent_tool_use_id":null,"uuid":"u-7"}',
    },
  ],
  [{ sent: { type: "user", message: { role: "user", content: "go" }, uuid: "u-8" } }],
  [{ line: '{"type":"result","subtype":"success","session_id":"s-1","uuid":"u-9"}' }],
);

const talk = (run: fc.Arbitrary<Said[]>, other: fc.Arbitrary<Said[]>): fc.Arbitrary<Said[]> =>
  fc
    .array(fc.oneof({ weight: 3, arbitrary: run }, { weight: 1, arbitrary: other }), { maxLength: 12 })
    .map((parts) => parts.flat());

describe("messages that repeat the one before", () => {
  it("mean the same from an ACP agent, whatever its quirks", () => {
    let repeats = 0;
    const each = fc.property(fc.constantFrom(undefined, ...QUIRKS), talk(acpRun, acpOther), (quirks, said) => {
      repeats += expectSame(() => new AcpTranslator(quirks ? { quirks } : {}), [ONE, TWO], said);
    });
    fc.assert(each, { numRuns: RUNS });
    expect(repeats).toBeGreaterThan(0);
  });

  it("mean the same from the mock agent", () => {
    let repeats = 0;
    const each = fc.property(talk(mockRun, mockOther), (said) => {
      repeats += expectSame(createMockTranslator, [MOCK_SESSION], said);
    });
    fc.assert(each, { numRuns: RUNS });
    expect(repeats).toBeGreaterThan(0);
  });

  it("mean the same from Codex", () => {
    let repeats = 0;
    const each = fc.property(talk(codexRun, codexOther), (said) => {
      repeats += expectSame(() => new CodexTranslator(), [ONE, TWO], said);
    });
    fc.assert(each, { numRuns: RUNS });
    expect(repeats).toBeGreaterThan(0);
  });

  it("mean the same from Claude Code", () => {
    let repeats = 0;
    const each = fc.property(talk(claudeRun, claudeOther), (said) => {
      repeats += expectSame(() => new ClaudeTranslator(), [ADDRESS], said);
    });
    fc.assert(each, { numRuns: RUNS });
    expect(repeats).toBeGreaterThan(0);
  });

  it("are not translated again as long as they are alike", () => {
    const said = Array.from({ length: 50 }, (_, index) => chunk("agent_message_chunk", ONE, "m-1", `piece ${index}`));
    // Two lines make the template, and the first that fits it says that more may follow.
    expect(expectSame(() => new AcpTranslator(), [ONE], said)).toBe(47);
  });

  it("end with whatever is recorded in between", () => {
    const pieces = Array.from({ length: 10 }, (_, index) => chunk("agent_message_chunk", ONE, "m-1", `piece ${index}`));
    const prompt: Said = { sent: { jsonrpc: "2.0", id: 7, method: "session/prompt", params: { sessionId: ONE, prompt: [] } } };
    expect(expectSame(() => new AcpTranslator(), [ONE], [...pieces, prompt, ...pieces])).toBe(7 + 8);
  });

  it("are kept byte for byte, also when they are no UTF-8", () => {
    const line = (d: Buffer): Said => ({
      line: Buffer.concat([Buffer.from('{"type":"text","m":"1","d":"'), d, Buffer.from('"}')]),
    });
    const said = [..."abcd"].map((d) => line(Buffer.from(d)));
    const broken = [0xff, 0xfe, 0xff].map((byte) => line(Buffer.from([0x61, byte, 0x62])));
    expect(expectSame(createMockTranslator, [MOCK_SESSION], [...said, ...broken, ...said])).toBeGreaterThan(0);
  });
});
