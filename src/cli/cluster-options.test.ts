import { expect, it } from "vitest";
import { clusterFrom } from "./cluster-options.ts";
import type { Terminal, Values } from "./command.ts";

const secret = "a secret of the cluster, for tests only";
const from = (values: Values, env: NodeJS.ProcessEnv = { DRAGOMAN_CLUSTER_SECRET: secret }, kind: "node" | "gateway" = "node") =>
  clusterFrom(values, { env } as Terminal, kind);
const url = "postgres://db/dragoman";

it("is one daemon by itself unless a database is given", () => {
  expect(from({})).toBeUndefined();
  expect(() => from({}, {}, "gateway")).toThrow("--cluster");
});

it("reads labels, places, lease and addresses", () => {
  const given = from({
    cluster: url,
    "node-id": "n1",
    labels: "zone=a,gpu=yes",
    place: ["/repos=efs-1"],
    lease: "3",
    "advertise-url": "http://n1:4700/",
  });
  expect(given).toEqual({
    ...{ url, kind: "node", secret, nodeId: "n1", labels: { zone: "a", gpu: "yes" }, leaseMs: 3_000, carry: false },
    places: [{ path: "/repos", name: "efs-1" }],
    advertiseUrl: "http://n1:4700",
  });
  expect(from({}, { DRAGOMAN_CLUSTER: url, DRAGOMAN_CLUSTER_SECRET: secret, DRAGOMAN_NODE_ID: "n2" })?.nodeId).toBe("n2");
  expect(from({ cluster: url, carry: true })).toMatchObject({ carry: true });
});

it.each([
  [{ labels: "zone" }, "--labels"],
  [{ place: ["repos=efs"] }, "--place"],
  [{ lease: "1" }, "--lease"],
  [{ "advertise-url": "node:4700" }, "--advertise-url"],
  [{ "node-id": "a b" }, "--node-id"],
])("refuses %j", (values, named) => {
  expect(() => from({ cluster: url, ...values })).toThrow(named);
});

it("needs a secret that cannot be guessed", () => {
  expect(() => from({ cluster: url }, {})).toThrow("secret");
  expect(() => from({ cluster: url }, { DRAGOMAN_CLUSTER_SECRET: "short" })).toThrow("32");
});
