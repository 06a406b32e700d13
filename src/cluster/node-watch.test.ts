import { expect, it } from "vitest";
import type { Node, NodeChange } from "../schema/node.ts";
import { changesOf, NodeWatch } from "./node-watch.ts";

const node = (more: Partial<Node> = {}): Node => ({
  node_id: "a",
  kind: "node",
  url: "http://a",
  version: "1",
  state: "up",
  incarnation: 1,
  labels: {},
  places: [],
  agents: [],
  capacity: 10,
  load: 0,
  sessions: 0,
  lease_ms: 5_000,
  self: false,
  ...more,
});

it.each<[string, Node | undefined, Node, NodeChange["type"][]]>([
  ["a node that was not there", undefined, node(), ["node.joined"]],
  ["a node that started again", node(), node({ incarnation: 2 }), ["node.joined"]],
  ["one that joined and was fenced since", undefined, node({ state: "fenced" }), ["node.joined", "node.fenced"]],
  ["a lease that was renewed", node(), node({ lease_ms: 9_000 }), []],
  ["a lease that ran out", node(), node({ lease_ms: -1 }), ["node.lease_lost"]],
  ["a lease that came back", node({ lease_ms: -1 }), node(), ["node.up"]],
  ["a silent node that is fenced", node({ lease_ms: -1 }), node({ lease_ms: -2, state: "fenced" }), ["node.fenced"]],
  ["a node that stops", node(), node({ state: "left" }), ["node.left"]],
  ["a drain", node(), node({ state: "draining", sessions: 1 }), ["node.draining"]],
  ["a drain that was taken back", node({ state: "draining" }), node(), ["node.up"]],
  ["work that came", node(), node({ load: 1, sessions: 1 }), ["node.load"]],
  ["nothing", node(), node(), []],
])("%s", (_, before, after, expected) => {
  expect(changesOf(before, after)).toEqual(expected);
});

it("looks only while somebody watches, goes on when the registry did not answer, and tells everybody the same", async () => {
  let rows: Node[] | Error = [node()];
  let looks = 0;
  const timers: (() => void)[] = [];
  const watch = new NodeWatch({
    nodes: async () => {
      looks++;
      if (rows instanceof Error) throw rows;
      return rows;
    },
    clock: {
      after: (_, run) => {
        timers.push(run);
        return () => void timers.splice(timers.indexOf(run), 1);
      },
    },
    now: () => 0,
  });
  const told: NodeChange["type"][][] = [[], []];
  const [one, two] = [
    await watch.open((changes) => told[0]?.push(...changes.map(({ type }) => type))),
    await watch.open((changes) => told[1]?.push(...changes.map(({ type }) => type))),
  ];
  expect(one.nodes).toEqual([node()]);
  expect(timers).toHaveLength(1);
  rows = new Error("down");
  timers.shift()?.();
  await expect.poll(() => timers.length).toBe(1);
  rows = [node({ state: "draining" })];
  timers.shift()?.();
  await expect.poll(() => timers.length).toBe(1);
  expect(told).toEqual([["node.draining"], ["node.draining"]]);
  rows = [node({ node_id: "b" })];
  timers.shift()?.();
  await expect.poll(() => timers.length).toBe(1);
  expect(told[0]).toEqual(["node.draining", "node.joined", "node.forgotten"]);
  expect(told[1]).toEqual(told[0]);
  one.stop();
  two.stop();
  expect(timers).toHaveLength(0);
  const before = looks;
  rows = [];
  await watch.look();
  expect(looks).toBe(before + 1);
});
