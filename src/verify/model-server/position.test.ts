import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedOf } from "../../test-seed.ts";
import type { ProtocolName } from "./model-request.ts";
import { type ModelServer, startModelServer } from "./model-server.ts";
import { bodies, paths, postJson, type Said, scenario, textStep } from "./test-client.ts";

const tool = { blocks: [{ type: "tool" as const, native_name: "echo", input: {} }] };
const story = scenario("story", [tool, tool, textStep("one.end")], [textStep("two.0"), textStep("two.1")], [textStep("three.0")]);
const other = scenario("other", [textStep("other.0")]);
const protocols: ProtocolName[] = ["anthropic", "responses", "chat", "gemini"];

describe.each(protocols)("position in a conversation: %s", (protocol) => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await startModelServer({ scenarios: [story, other], default: "story" });
  });
  afterAll(() => server.close());

  const where = async (said: readonly Said[]): Promise<string> => {
    await postJson(`${server.url}${paths[protocol]}`, bodies[protocol](said));
    const last = server.requests.at(-1)?.position;
    return `${last?.scenario} ${last?.turn}.${last?.step}`;
  };
  const call = (id: string): Said => ({ assistant: "", calls: [{ id, name: "echo" }] });
  const result = (id: string): Said => ({ result: "ok", id, name: "echo" });

  it("counts the answers since the last prompt", async () => {
    const opening: Said = { user: "go [[scenario:story]]" };
    expect(await where([opening])).toBe("story 0.0");
    expect(await where([opening, call("a"), result("a")])).toBe("story 0.1");
    expect(await where([opening, call("a"), result("a"), call("b"), result("b")])).toBe("story 0.2");
  });

  it.runIf(protocol === "anthropic")(
    "finds a message that steers inside a tool's result, and takes no other quotation there for one",
    async () => {
      const opening: Said = { user: "go [[scenario:story#1]]" };
      const steered =
        "ok\n<system-reminder>\nThe user sent a new message while you were working:\nb [[scenario:story#2]]\n</system-reminder>";
      expect(await where([opening, call("a"), { result: steered, id: "a", name: "echo" }])).toBe("story 1.0");
      expect(await where([opening, call("a"), { result: "b [[scenario:story#2]]", id: "a", name: "echo" }])).toBe("story 0.1");
    },
  );

  it("counts turns by prompts when the marker does not say", async () => {
    const first: Said[] = [{ user: "go [[scenario:story]]" }, { assistant: "one.end" }];
    expect(await where([...first, { user: "more" }])).toBe("story 1.0");
    expect(await where([...first, { user: "more" }, { assistant: "two.0" }, { user: "still more" }])).toBe("story 2.0");
  });

  it("takes the turn from the marker when it says, whatever else is in the history", async () => {
    const noise: Said[] = [
      { user: "a [[scenario:story#1]]" },
      { assistant: "half an answ" },
      { user: "[Request interrupted by user]" },
    ];
    expect(await where([...noise, { user: "b [[scenario:story#3]]" }])).toBe("story 2.0");
    expect(
      await where([...noise, { user: "b [[scenario:story#2]]" }, { assistant: "cut" }, { user: "Please go on, said the agent" }]),
    ).toBe("story 1.1");
  });

  it("goes by the last marker, so queued prompts and sub-agents find their own script", async () => {
    expect(await where([{ user: "x [[scenario:story#1]]" }, { user: "y [[scenario:other]]" }])).toBe("other 0.0");
  });

  it("goes on after a summary that carries the place", async () => {
    expect(await where([{ user: "Summary. [[scenario:story#1+2]]" }])).toBe("story 0.2");
    expect(
      await where([{ user: "Summary. [[scenario:story#1+2]]" }, { assistant: "Got it." }, { user: "next [[scenario:story#2]]" }]),
    ).toBe("story 1.0");
  });

  it("uses the default without a marker", async () => {
    expect(await where([{ user: "<environment_context>here</environment_context>" }, { user: "hello" }])).toBe("story 0.0");
  });

  it("keeps the step of parallel calls, also when the client pairs calls and results", async () => {
    const ids = ["call_t0s0b0n1", "call_t0s0b1n2"];
    const paired = ids.flatMap((id): Said[] => [call(id), result(id)]);
    expect(await where([{ user: "go [[scenario:story#1]]" }, ...paired])).toBe("story 0.1");
  });

  it("is the number of rounds for every history (property)", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 5 }),
        fc.integer({ min: 1, max: 3 }),
        fc.boolean(),
        async (rounds, width, text) => {
          const history: Said[] = [{ user: "go [[scenario:story#1]]" }];
          for (let round = 0; round < rounds; round++) {
            const ids = Array.from({ length: width }, (_, index) => `x${round}-${index}`);
            history.push({ assistant: text ? "text" : "", calls: ids.map((id) => ({ id, name: "echo" })) }, ...ids.map(result));
          }
          expect(await where(history)).toBe(`story 0.${rounds}`);
        },
      ),
      { seed: seedOf(42), numRuns: 25 },
    );
  });

  it("plays a whole turn when its own calls are sent back", async () => {
    const said: Said[] = [{ user: "go [[scenario:story#1]]" }];
    for (let round = 0; round < 2; round++) {
      const answer = JSON.stringify(await postJson(`${server.url}${paths[protocol]}`, bodies[protocol](said)));
      const id = /"((?:toolu|call|fc)_t\d+s\d+b\d+n\d+)"/.exec(answer)?.[1] ?? "";
      expect(id).toContain(`_t0s${round}b0n`);
      said.push(call(id), result(id));
    }
    expect(JSON.stringify(await postJson(`${server.url}${paths[protocol]}`, bodies[protocol](said)))).toContain("one.end");
    expect(server.requests.at(-1)?.history.map((entry) => entry.role)).toEqual(
      protocol === "responses"
        ? ["user", "assistant", "assistant", "tool", "assistant", "assistant", "tool"]
        : ["user", "assistant", "tool", "assistant", "tool"],
    );
  });
});

describe("many conversations at once", () => {
  it("do not disturb each other, and each sees its own fault", async () => {
    const flaky = scenario("flaky", [{ ...textStep("fine now"), fault: { kind: "http", status: 500, times: 1 } }]);
    const server = await startModelServer({ scenarios: [flaky] });
    const attempt = async (session: number): Promise<string> => {
      const body = bodies.anthropic([{ user: "go [[scenario:flaky]]" }]);
      return JSON.stringify(await postJson(`${server.url}/v1/messages`, body, { "x-claude-code-session-id": `s${session}` }));
    };
    const sessions = Array.from({ length: 20 }, (_, index) => index);
    const first = await Promise.all(sessions.map(attempt));
    expect(first.every((answer) => answer.includes("api_error"))).toBe(true);
    const second = await Promise.all(sessions.map(attempt));
    expect(second.every((answer) => answer.includes("fine now"))).toBe(true);
    expect(server.requests.map((request) => request.attempt).toSorted()).toEqual([
      ...sessions.map(() => 1),
      ...sessions.map(() => 2),
    ]);
    await server.close();
  });
});
