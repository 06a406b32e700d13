import { expect, it } from "vitest";
import { placeSession, unclaimable } from "./placement.ts";
import type { NodeRow, Ownership } from "./registry.ts";

const node = (node_id: string, more: Partial<NodeRow> = {}): NodeRow => ({
  node_id,
  kind: "node",
  writer: node_id,
  url: "",
  version: "",
  labels: {},
  places: [],
  agents: ["mock"],
  capacity: 10,
  incarnation: 1,
  state: "up",
  load: 0,
  sessions: 0,
  lease_ms: 1_000,
  left: false,
  ...more,
});
const wish = { agent: "mock", place: null };
const chosen = (...given: Parameters<typeof placeSession>): string => {
  const placement = placeSession(...given);
  return "node" in placement ? placement.node.node_id : placement.refused;
};

it("[O11] the less loaded of two chosen at random", () => {
  const nodes = [node("a", { load: 5 }), node("b", { load: 1 })];
  const dice = [0, 0.99, 0, 0];
  const random = (): number => dice.shift() ?? 0;
  expect(chosen(nodes, wish, random)).toBe("b");
  expect(chosen(nodes, wish, random)).toBe("a");
});

it("[O11] only nodes that are up, have the agent, the labels and the place, and room", () => {
  const nodes = [
    node("gateway", { kind: "gateway" }),
    node("draining", { state: "draining" }),
    node("dead", { lease_ms: -1 }),
    node("no-agent", { agents: [] }),
    node("full", { load: 10 }),
    node("good", { labels: { gpu: "yes" }, places: ["efs"] }),
  ];
  expect(chosen(nodes, { ...wish, labels: { gpu: "yes" } }, Math.random)).toBe("good");
  expect(chosen(nodes, { ...wish, place: "efs" }, Math.random)).toBe("good");
  expect(chosen(nodes, wish, Math.random)).toBe("good");
  expect(chosen(nodes, wish, Math.random, ["good"])).toBe("node_full");
  expect(chosen(nodes, { ...wish, node: "full" }, Math.random)).toBe("node_full");
  expect(chosen(nodes, { ...wish, node: "nobody" }, Math.random)).toBe("node_not_found");
  expect(chosen(nodes, { ...wish, node: "draining" }, Math.random)).toBe("no_node");
  expect(chosen(nodes, { ...wish, agent: "codex" }, Math.random)).toBe("no_node");
});

it("[O9] says why nobody takes a session", () => {
  const session: Ownership = { session_id: "s", agent: "mock", place: null, home: "a", owner: null, owned: false, epoch: 1 };
  expect(unclaimable(session, [node("b", { places: ["efs"] })])).toBe("directory");
  expect(unclaimable({ ...session, place: "efs" }, [node("b", { places: ["efs"] })])).toBe(null);
  expect(unclaimable({ ...session, place: "efs" }, [node("b", { places: ["efs"], agents: [] })])).toBe("agent");
  expect(unclaimable(session, [node("a")])).toBe(null);
  expect(unclaimable({ ...session, owned: true }, [])).toBe(null);
});
