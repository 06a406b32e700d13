import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { mapped } from "../agents/translation.ts";
import type { Draft } from "../schema/draft.ts";
import type { UniversalEvent } from "../schema/event.ts";
import { checkGrammar } from "../schema/grammar.ts";
import { EventWriter, jsonOf, type LogEntry } from "./event-writer.ts";
import { countingIds } from "./ids.ts";
import { canonicalJson, inputHash } from "./input-hash.ts";
import { Scribe } from "./scribe.ts";

/** A scribe, the events it wrote, and what an agent says to it. */
function open() {
  const events: UniversalEvent[] = [];
  const sink = { append: (entry: LogEntry) => void events.push(JSON.parse(jsonOf(entry)) as UniversalEvent) };
  const writer = new EventWriter({ sessionId: "s", sink, ids: countingIds(), clock: () => "2026-01-01T00:00:00.000Z" });
  const put = (bytes: Buffer) => ({ artifact_id: "art", path: "/a", bytes: bytes.length, digest: "sha256:1" });
  const scribe = new Scribe(writer, { put });
  scribe.begin({});
  const agent = (...drafts: Draft[]) => scribe.translation(mapped("s", "x", drafts), 1, true, null);
  const requests = () =>
    events.flatMap((event) =>
      event.type === "permission.requested" || event.type === "permission.resolved"
        ? [
            {
              type: event.type,
              id: event.data.permission_id,
              status: event.data.status,
              ...event.data.metadata,
              action: event.data.action,
            },
          ]
        : [],
    );
  return { scribe, events, agent, requests };
}

const call = (input: unknown): Draft => ({
  do: "item.start",
  item: { key: "c", kind: "tool_call", role: "assistant", content: [part(JSON.stringify(input))] },
});
const part = (json: string) => ({ type: "tool_call", name: "shell", arguments: json, call_id: "c" }) as const;
const update = (input: unknown): Draft => ({ do: "item.update", key: "c", content: [part(JSON.stringify(input))] });
const ask = (input: unknown, key = "p"): Draft => ({
  do: "permission.request",
  key,
  action: "Run: as asked",
  tool_name: "shell",
  input,
  call_id: "c",
  item: "c",
  diff: "+old",
  options: [],
  native: { id: 1 },
});

describe("the hash an approval is bound to", () => {
  it("is that of the value, whatever the order of its keys and however it is written", () => {
    expect(inputHash({ b: 1, a: [{ d: 2, c: "é" }] })).toBe(inputHash(JSON.parse('{ "a": [{"c":"\\u00e9","d":2.0}], "b":1 }')));
    expect(inputHash({ a: 1 })).not.toBe(inputHash({ a: "1" }));
    expect(canonicalJson({ "10": 1, "9": 2, z: undefined })).toBe('{"10":1,"9":2}');
    expect(inputHash(undefined)).toBe(inputHash(null));
    const hex = createHash("sha256").update('{"command":"touch a"}').digest("hex");
    expect(inputHash({ command: "touch a" })).toBe(`sha256:${hex}`);
  });
});

describe("[A4] a call that changes while its permission is open", () => {
  it("is asked again with what it would do now, and the old request is denied", () => {
    const { agent, requests, events, scribe } = open();
    agent(call({ command: "touch a" }), ask({ command: "touch a" }));
    agent(update({ command: "rm -rf /" }));
    const [first, denied, second, ...more] = requests();
    expect(more).toEqual([]);
    expect(first).toMatchObject({ input_hash: inputHash({ command: "touch a" }) });
    expect(denied).toMatchObject({ id: first?.id, status: "denied", resolved_by: "agent" });
    expect(second).toMatchObject({
      type: "permission.requested",
      action: "Run: rm -rf /",
      input: { command: "rm -rf /" },
      input_hash: inputHash({ command: "rm -rf /" }),
    });
    expect(second).not.toHaveProperty("diff");
    expect(second?.id).not.toBe(first?.id);
    expect(scribe.requests.replacementOf(first?.id ?? "")).toBe(second?.id);
    expect(scribe.requests.open()).toMatchObject([{ side: { native: { id: 1 } } }]);
    expect(checkGrammar(events)).toEqual([]);
  });

  it("is asked again when the agent asks with the same key and another input", () => {
    const { agent, requests, events } = open();
    agent(ask({ command: "touch a" }), ask({ command: "touch a" }), ask({ command: "rm" }));
    expect(requests().map(({ type, status }) => [type, status])).toEqual([
      ["permission.requested", "requested"],
      ["permission.resolved", "denied"],
      ["permission.requested", "requested"],
    ]);
    expect(checkGrammar(events)).toEqual([]);
  });

  it("is asked again when its arguments are streamed to another end", () => {
    const { agent, requests } = open();
    agent({ do: "item.start", item: { key: "c", kind: "tool_call", role: "assistant", content: [part("")] } });
    agent(ask({ command: "touch a" }));
    for (const delta of ['{"comm', 'and":"rm', '"}']) agent({ do: "item.delta", key: "c", part_type: "tool_arguments", delta });
    expect(requests().at(-1)).toMatchObject({ type: "permission.requested", input: { command: "rm" } });
  });

  it("is not asked again when it only says more clearly what was asked", () => {
    const { agent, requests } = open();
    agent(call({}), ask({ command: "touch a" }));
    agent(update({ command: "touch a" }), update({ command: "touch a" }));
    agent(call({ command: "touch a" }));
    expect(requests()).toHaveLength(1);
  });

  it("may tell its arguments after the question, with more than was asked, but then they stand", () => {
    const { agent, requests } = open();
    agent(call({}), ask({ command: "touch a" }));
    agent(update({ command: "touch a", description: "makes a file" }));
    expect(requests()).toHaveLength(1);
    agent(update({ command: "touch a", description: "makes a file", timeout: 1 }));
    expect(requests()).toHaveLength(3);
  });

  it("may not tell arguments that contradict the question", () => {
    const { agent, requests } = open();
    agent(call({}), ask({ command: "touch a" }), update({ command: "rm" }));
    expect(requests().at(-1)).toMatchObject({ type: "permission.requested", input: { command: "rm" } });
  });

  it("has the hash of the whole input also when the event holds a part of it", () => {
    const { agent, requests } = open();
    const large = { command: "x".repeat(400_000) };
    agent(call(large), ask(large), update(large));
    expect(requests()).toHaveLength(1);
    expect(requests()[0]).toMatchObject({ input_hash: inputHash(large) });
    agent(update({ command: `${large.command}y` }));
    expect(requests().at(-1)).toMatchObject({ input_hash: inputHash({ command: `${large.command}y` }) });
  });
});
