// What a node does while the registry takes its time to answer. The rules with real registries and clocks: simulation/ and test/fleet.
import { expect, it } from "vitest";
import { FleetNode } from "./fleet-node.ts";
import type { Claim, Registry } from "./registry.ts";

const ME = { node_id: "a", incarnation: 1 };
const OURS: Claim = { session_id: "s", epoch: 1, from: null, reason: "restart" };

it("[O8] compares once more when a session is refused while a claim is on its way: it may be ours all the same", async () => {
  let claimed: Promise<Claim[]> = Promise.resolve([]);
  const asked = {
    birth: async () => 1,
    join: async () => ME,
    fenceDead: async () => [],
    own: async () => OURS.epoch,
    owned: async () => [OURS],
    claim: () => claimed,
  };
  const taken: string[] = [];
  const lost: string[] = [];
  const node = new FleetNode({
    registry: asked as Partial<Registry> as Registry,
    profile: {
      node_id: "a",
      kind: "node",
      writer: "a/1",
      url: "",
      version: "1",
      labels: {},
      places: [],
      agents: [],
      capacity: 1,
    },
    clock: { after: () => () => undefined },
    duties: {
      taken: (claims) => taken.push(...claims.map(({ session_id }) => session_id)),
      lost: (ids) => lost.push(...ids),
      load: () => 0,
    },
  });
  await node.start();
  await node.own({ session_id: "s", agent: "mock", place: null });
  await node.claimNow();
  let answer = (_: Claim[]): void => undefined;
  claimed = new Promise((resolve) => {
    answer = resolve;
  });
  const claiming = node.claimNow();
  await new Promise(setImmediate);
  node.refused("s");
  answer([]);
  await claiming;
  expect([lost, taken, node.epochOf("s")]).toEqual([["s"], [], undefined]);
  await node.claimNow();
  expect([taken, node.epochOf("s")]).toEqual([["s"], 1]);
});
