// What makes a daemon a node of a fleet, from options and the environment.
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import type { ClusterOptions } from "../daemon/cluster.ts";
import { list, type OptionSpec, type Terminal, text, UsageError, type Values } from "./command.ts";
import { labelsOf } from "./node-filter.ts";
import { randomHex } from "./output.ts";

export const clusterOptions: Record<string, OptionSpec> = {
  cluster: { type: "string", value: "<url>", about: "be a node of a fleet, with its log in this Postgres (postgres://…)" },
  "node-id": { type: "string", value: "<id>", about: "name of the node, the same at each start (default: the host name)" },
  labels: { type: "string", value: "<a=b,…>", about: "labels by which new sessions choose a node" },
  place: {
    type: "string",
    value: "<dir=name>",
    multiple: true,
    about: "a directory that other nodes have too, with the agents' stores",
  },
  carry: {
    type: "boolean",
    about: "the agents' stores are not shared: what an agent keeps of a session is carried in the log",
  },
  "advertise-url": { type: "string", value: "<url>", about: "where other nodes reach this one (default: where it listens)" },
  lease: { type: "string", value: "<seconds>", about: "how long a node may be silent before others take over (default 10)" },
  "cluster-secret-file": {
    type: "string",
    value: "<file>",
    about: "file with the secret of the cluster (default: DRAGOMAN_CLUSTER_SECRET)",
  },
  artifacts: {
    type: "string",
    value: "<url>",
    about:
      "move artifacts into a bucket: s3://bucket/prefix?endpoint=…&region=… (or DRAGOMAN_ARTIFACTS; keys: AWS_ACCESS_KEY_ID, …)",
  },
  "cluster-ca": { type: "string", value: "<file>", about: "certificates by which nodes are known that talk over TLS" },
};

/** Undefined: one daemon by itself. */
export function clusterFrom(values: Values, terminal: Terminal, kind: "node" | "gateway"): ClusterOptions | undefined {
  const { env } = terminal;
  const url = text(values, "cluster") ?? env.DRAGOMAN_CLUSTER;
  if (url === undefined) {
    if (kind === "gateway") throw new UsageError("a gateway needs --cluster postgres://…");
    return undefined;
  }
  const secretFile = text(values, "cluster-secret-file");
  const secret = secretFile === undefined ? env.DRAGOMAN_CLUSTER_SECRET : fileOf("cluster-secret-file", secretFile);
  if (!secret) throw new UsageError("nodes know one another by a secret: give --cluster-secret-file or DRAGOMAN_CLUSTER_SECRET");
  if (secret.length < 32)
    throw new UsageError("the secret of a cluster has at least 32 characters: `dragoman cluster init` makes one");
  const ca = text(values, "cluster-ca");
  const artifacts = text(values, "artifacts") ?? env.DRAGOMAN_ARTIFACTS;
  const advertise = text(values, "advertise-url") ?? env.DRAGOMAN_ADVERTISE_URL;
  const own = kind === "gateway" ? `gateway-${hostname()}-${randomHex(3)}` : hostname();
  return {
    url,
    kind,
    secret,
    nodeId: nodeName(text(values, "node-id") ?? env.DRAGOMAN_NODE_ID ?? own),
    labels: labelsOf(text(values, "labels") ?? "", "--labels"),
    places: list(values, "place").map(placeFrom),
    carry: values.carry === true,
    ...leaseFrom(text(values, "lease")),
    ...(advertise === undefined ? {} : { advertiseUrl: webUrl(advertise) }),
    ...(artifacts === undefined ? {} : { artifacts: { place: artifacts, env } }),
    ...(ca === undefined ? {} : { ca: fileOf("cluster-ca", ca) }),
  };
}

function leaseFrom(given: string | undefined): Pick<ClusterOptions, "leaseMs"> {
  if (given === undefined) return {};
  const seconds = Number(given);
  if (!(seconds >= 2 && seconds <= 600)) throw new UsageError(`--lease takes 2 to 600 seconds, not ${given}`);
  return { leaseMs: seconds * 1_000 };
}

function fileOf(option: string, file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new UsageError(`--${option} ${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function nodeName(name: string): string {
  if (/^[\w.-]{1,128}$/.test(name)) return name;
  throw new UsageError(`--node-id takes letters, digits, dots, dashes and underscores, not ${name}`);
}

function placeFrom(given: string): { path: string; name: string } {
  const [, path, name] = /^(\/[^=]*)=([\w.-]+)$/.exec(given) ?? [];
  if (path === undefined || name === undefined) throw new UsageError(`--place is written /directory=name, not ${given}`);
  return { path, name };
}

function webUrl(given: string): string {
  if (/^https?:\/\/[^/]+\/?$/.test(given)) return given.replace(/\/$/, "");
  throw new UsageError(`--advertise-url is written http://host:port, not ${given}`);
}
