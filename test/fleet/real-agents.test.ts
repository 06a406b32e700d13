/**
 * Agents on a fleet of real nodes: the node of a session is killed, and the session goes on on another one with what its agent knew; once with the agents' stores shared, once with stores of each
 * node's own, carried in the log. Our own agent always; DRAGOMAN_FLEET_AGENTS names others, with commas: they are those that `npm run conformance -- --install-only` has installed. Their model is
 * the scripted one.
 */
import { existsSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { commandVariable } from "../../src/daemon/agent-host.ts";
import { Postgres } from "../../src/log/postgres/connection.ts";
import { withoutPostgres } from "../../src/log/postgres/test-postgres.ts";
import { startModelServer } from "../../src/verify/model-server/index.ts";
import { pinnedAgents } from "../../src/verify/pinned.ts";
import { verifyProfiles } from "../../src/verify/profiles.ts";
import { commonScenarios, promptFor } from "../../src/verify/scenario/index.ts";
import { checkStory, TestCluster, textOf } from "./test-cluster.ts";

const AGENTS = ["responses", ...(process.env.DRAGOMAN_FLEET_AGENTS ?? "").split(",").filter(Boolean)];
const WAYS = AGENTS.flatMap((agent) => [
  { agent, carry: false, stores: "stores that all nodes share" },
  { agent, carry: true, stores: "stores of each node's own" },
]);
const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "dragoman-conformance");
const NAMES = ["a", "b", "c"];
const scenario = commonScenarios.find(({ name }) => name === "resume");

const programOf = (agent: string): NodeJS.ProcessEnv => {
  if (agent === "responses") return {};
  const pinned = pinnedAgents.find((each) => each.agent === agent);
  const path = pinned ? join(CACHE, `${agent}-${pinned.version}`, "node_modules", pinned.program) : "";
  if (!existsSync(path)) throw new Error(`${agent} is not installed: npm run conformance -- --install-only ${agent}`);
  return { [commandVariable(agent)]: path };
};

/** The agent's own words after the turn are in the log, too: an agent writes them a moment later. */
async function stored(url: string, words: string): Promise<void> {
  const database = await Postgres.open({ url });
  try {
    await expect
      .poll(async () => {
        const bodies = async (kind: string): Promise<[string, string][]> => {
          const { rows } = await database.query("SELECT id, body FROM dragoman.documents WHERE kind = $1", [kind]);
          return rows.map(({ id, body }) => [String(id), String(body)]);
        };
        const pieces = (await bodies("carried_piece")).filter(([, body]) => body.includes(words));
        // A piece is committed before the list that names it.
        const lists = await bodies("carried_files");
        return pieces.some(([id]) => lists.some(([, list]) => list.includes(id.split("/").at(-1) ?? id)));
      })
      .toBe(true);
  } finally {
    await database.close();
  }
}

describe.skipIf(withoutPostgres())("agents on a fleet", () => {
  const closing: (() => Promise<unknown>)[] = [];
  afterAll(async () => {
    for (const close of closing.reverse()) await close();
  });

  it.each(WAYS)(
    "$agent, $stores: its node is killed, and the session goes on elsewhere with its history",
    async ({ agent, carry }) => {
      const program = programOf(agent);
      const profile = verifyProfiles.get(agent);
      if (!profile || !scenario) throw new Error(`${agent} has no profile`);
      const model = await startModelServer({ scenarios: [scenario], default: scenario.name });
      closing.push(() => model.close());
      const cluster = await TestCluster.start([]);
      closing.push(() => cluster.stop());
      const directory = join(cluster.shared, "work");
      mkdirSync(directory);
      for (const name of [...NAMES, "gateway"]) {
        const root = carry ? join(cluster.home, `${name}-own`) : cluster.shared;
        const home = join(root, "home");
        mkdirSync(home, { recursive: true });
        const place = { home, root, modelUrl: model.url, port: model.port };
        const setUp = await profile.setUp(place);
        closing.push(async () => setUp.close?.());
        const own = await profile.forScenario?.(scenario, { ...place, directory, own: root });
        const env = { HOME: home, ...program, ...setUp.env, ...own?.env };
        await cluster.start(name, { env, args: carry && name !== "gateway" ? ["--carry"] : [] });
      }
      const id = await cluster.create("a", "gateway", {
        agent,
        directory,
        permission_mode: "bypass",
        model: profile.models.first,
        env: {},
      });
      const prompt = (turn: number): string =>
        profile.marks ? promptFor(scenario, turn, directory) : (scenario.turns[turn]?.prompt ?? "");
      expect((await cluster.send("gateway", id, prompt(0))).status).toBe(202);
      await cluster.hasEvents("gateway", id, "turn.ended");
      const before = await cluster.events("gateway", id);
      await cluster.settled("gateway", NAMES);
      if (carry || agent === "responses") await stored(cluster.postgres.url, "heliotrope.");
      await cluster.kill("a");
      await cluster.hasEvents("gateway", id, "session.moved");
      const asked = model.requests.length;
      expect((await cluster.send("gateway", id, prompt(1))).status).toBe(202);
      await cluster.hasEvents("gateway", id, "turn.ended", 2);
      const events = await cluster.events("gateway", id);
      checkStory(events);
      expect(events.slice(0, before.length)).toEqual(before);
      expect((await cluster.view("gateway", id)).node).not.toBe("a");
      expect(
        events.filter(({ type }) => type === "turn.ended").map(({ data }) => (data as { stop_reason?: string }).stop_reason),
      ).toEqual(["end_turn", "end_turn"]);
      expect(textOf(events.slice(before.length))).toContain("Heliotrope");
      // The model was given the first turn too: the agent went on from its own store.
      const seen = model.requests.slice(asked).map(({ history }) => JSON.stringify(history));
      expect(seen.some((text) => text.includes("Remember the word heliotrope.") && text.includes("Which word?"))).toBe(true);
    },
  );
});
