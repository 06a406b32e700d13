import { describe, expect, it } from "vitest";
import { replayTrace } from "../verify/replay.ts";
import { ClaudeTranslator } from "./claude/translate/translator.ts";
import type { SilenceTable, Translator } from "./contract.ts";
import { builtInAgents } from "./registry.ts";
import { silenceOf } from "./silence.ts";
import { heartbeat, mapped } from "./translation.ts";

const TABLE: SilenceTable = [
  ["exact", "one"],
  ["begins/*", "two"],
  ["*:result", "three"],
];

describe("a message that makes no event", () => {
  it("has the reason of its type, or of its direction", () => {
    expect(["exact", "begins/x", "any:result", "other"].map((type) => silenceOf(TABLE, type, "out"))).toEqual([
      "one",
      "two",
      "three",
      undefined,
    ]);
    expect(silenceOf(TABLE, "other", "in")).toMatch(/we sent it/);
  });

  it("[U16] is named by a replay when nobody says why", () => {
    const translator: Translator = {
      silence: TABLE,
      translate: ({ data }) => [data === "beat" ? heartbeat(null, "beat") : mapped(null, String(data))],
    };
    const rows = ["exact", "beat", "other"].map((data, t_ms) => ({ t_ms, dir: "out" as const, data }));
    expect(replayTrace(() => translator, rows, { location: "test" }).unexplained).toEqual([{ row: 3, type: "other" }]);
  });

  it.each(builtInAgents.map((agent) => [agent.id, agent] as const))("[U16] %s names each of its types", (_, agent) => {
    const { silence = [] } = agent.createTranslator?.() ?? {};
    // Of answers only the request they confirm is known; a copy is known by the event it copies; `exec` of Codex has one end for all.
    const families = ["*:result", "answer:*", "sync:*", "exec:*"];
    expect(silence.map(([type]) => type).filter((type) => type.includes("*") && !families.includes(type))).toEqual([]);
  });

  it("[U16] is no excuse for a type that is not named", () => {
    const { silence } = new ClaudeTranslator();
    expect(silenceOf(silence, "assistant:other", "out")).toBeUndefined();
    expect(silenceOf(silence, "stream_event/content_block_delta:new_delta", "out")).toBeUndefined();
  });
});
