import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { checkGrammar } from "../../../schema/grammar.ts";
import { eventsOf, play, turnEnd } from "../../../session/test-session.ts";
import { allow, type ModelRequest, outputsOf, TestCore } from "./test-core.ts";

let test: TestCore;
afterEach(() => test.close());

function skill(home: string, name: string, frontmatter: string, body: string): void {
  const folder = join(home, ".agents", "skills", name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "SKILL.md"), `---\nname: ${name}\ndescription: How to ${name}\n${frontmatter}---\n${body}\n`);
}

const step = (request: ModelRequest, ...steps: object[][]) => (steps[outputsOf(request).length] ?? [{ text: "Done." }]) as [];

describe("skills", () => {
  it("are listed for the model, loaded by it, told, and let their tools pass for the turn", async () => {
    const bash = [{ call: "bash", args: { command: "echo one >> out.txt" } }];
    test = await TestCore.open((request) => step(request, [{ call: "skill", args: { name: "report" } }], bash, [{ text: "x" }]));
    skill(test.dir, "report", "allowed-tools: Bash(echo:*)\n", "Write SHORT reports.");
    const session = await test.start({ permission_mode: "accept_edits" });
    const { turn_id } = await session.send("Go.", [], "queue");
    const asked = await allow(session);
    expect(asked.data.metadata.tool_name).toBe("skill");
    expect(await turnEnd(session, turn_id)).toMatchObject({ data: { stop_reason: "end_turn" } });
    expect(test.request(1).instructions).toContain("# Skills\nLoad one with the tool skill.\n- report: How to report");
    expect(outputsOf(test.request(2))[0]).toContain("Write SHORT reports.");
    expect(readFileSync(join(test.work, "out.txt"), "utf8")).toBe("one\n");
    const events = await eventsOf(session);
    expect(checkGrammar(events)).toEqual([]);
    expect(events.filter(({ type }) => type === "permission.requested")).toHaveLength(1);
    expect(events.find(({ type }) => type === "skill.loaded")?.data).toMatchObject({
      name: "report",
      digest: expect.stringMatching(/^sha256:/),
    });
    expect(events.find(({ type }) => type === "skill.invoked")?.data).toMatchObject({ name: "report", mode: "auto" });
  });

  it("/name is the person's: nothing is asked for what it allows, and asked again in the next turn", async () => {
    const bash = [{ call: "bash", args: { command: "echo two" } }];
    test = await TestCore.open(
      (request, nth) => (nth === 1 || nth === 3 ? bash : [{ text: outputsOf(request).at(-1) ?? "" }]) as [],
    );
    skill(test.dir, "deploy", "allowed-tools: Bash(echo:*) Teleport\n", "Deploy with care.");
    const session = await test.start();
    expect(await play(session, "/deploy now")).toMatchObject({ data: { stop_reason: "end_turn" } });
    expect(JSON.stringify(test.request(1).input)).toContain("Deploy with care.");
    expect(JSON.stringify(test.request(1).input)).toContain("Arguments: now");
    expect((await eventsOf(session)).some(({ type }) => type === "permission.requested")).toBe(false);
    const { turn_id } = await session.send("Again.", [], "queue");
    await allow(session);
    await turnEnd(session, turn_id);
  });

  it("of a directory count only where it is trusted", async () => {
    test = await TestCore.open(() => [{ text: "Hello." }]);
    skill(test.work, "local", "", "Only here.");
    await play(await test.start({ trust: "restricted" }), "Go.");
    expect(test.request(1).instructions).not.toContain("local");
    expect(test.request(1).tools.map(({ name }) => name)).not.toContain("skill");
    await play(await test.start({ trust: "trusted" }), "Go.");
    expect(test.request(2).instructions).toContain(
      "# Skills of the project\nLoad one with the tool skill.\n- local: How to local",
    );
  });
});
