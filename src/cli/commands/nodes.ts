/** `nodes …`: the nodes of a fleet. `cluster …`: its database. */
import type { FleetMessage, Node } from "../../schema/node.ts";
import { type Command, done, EXIT, flag, type Invocation, need, text, UsageError } from "../command.ts";
import { LiveArea } from "../live-area.ts";
import { exactLine, randomHex } from "../output.ts";
import { paintFor, table } from "../style.ts";
import { columnsOf } from "../text-layout.ts";

export const nodesList: Command = {
  name: "nodes ls",
  usage: "nodes ls [--all] [--watch]",
  about: "list the nodes of the fleet",
  help: `  Nodes that left are shown with --all, for an hour. With --watch the list stays on the screen and follows what happens, and says which sessions other nodes took, until Ctrl-C. With --watch
  and --json every change is printed, one a line; the first line has all nodes.`,
  options: {
    all: { type: "boolean", short: "a", about: "nodes that left, too" },
    watch: { type: "boolean", short: "w", about: "keep the list on the screen and up to date" },
  },
  async run(call) {
    const { values, daemon, json, print, table } = call;
    if (flag(values, "watch")) return watchNodes(call);
    const nodes = await (await daemon()).nodes();
    if (flag(values, "json")) for (const node of nodes) json(node);
    else if (nodes.length === 0) print("This daemon is no node of a fleet.");
    else table(HEAD, shownOf(values, nodes).map(row), DROP);
    return EXIT.ok;
  },
};

const HEAD = ["NODE", "KIND", "STATE", "SESSIONS", "LOAD", "LEASE", "PLACES", "URL", "VERSION"];
const DROP = ["VERSION", "URL", "PLACES"];

/** For people; programs get all. */
const shownOf = (values: Invocation["values"], nodes: Iterable<Node>): Node[] =>
  [...nodes].filter(({ state }) => state !== "left" || flag(values, "all"));

const row = (node: Node): string[] => [
  node.node_id,
  node.kind,
  node.state,
  String(node.sessions),
  `${node.load}/${node.capacity}`,
  node.state === "left" ? "–" : node.lease_ms > 0 ? `${Math.round(node.lease_ms / 1000)} s` : "run out",
  node.places.join(" "),
  node.url,
  node.version,
];

/** So many of the last changes stay on the screen. */
const SHOWN_CHANGES = 8;

async function watchNodes({ values, terminal, daemon, json }: Invocation): Promise<number> {
  const { stdout, env, signal } = terminal;
  const stream = (await daemon()).watchNodes({ signal });
  if (flag(values, "json")) {
    for await (const { cursor, message } of stream) json({ cursor, message });
    return EXIT.ok;
  }
  if (!stdout.isTTY) throw new UsageError("--watch needs a terminal; with --json it prints every change");
  const area = new LiveArea(stdout.device);
  const paint = paintFor(stdout, env);
  let nodes = new Map<string, Node>();
  const changes: string[] = [];
  for await (const { message } of stream) {
    if (message.type === "nodes") nodes = new Map(message.nodes.map((node) => [node.node_id, node]));
    else if (message.type === "node.forgotten") nodes.delete(message.node.node_id);
    else if (message.type !== "session.moved") nodes.set(message.node.node_id, message.node);
    if (message.type !== "nodes" && message.type !== "node.load") changes.unshift(changeLine(message));
    changes.splice(SHOWN_CHANGES);
    const drawn = table(HEAD, shownOf(values, nodes.values()).map(row), paint, {
      columns: columnsOf(stdout, env) - 1,
      drop: DROP,
    });
    area.draw(() => {}, [...drawn.split("\n"), ...changes.map(exactLine), paint.dim("Ctrl-C ends")]);
  }
  return EXIT.ok;
}

function changeLine(message: Exclude<FleetMessage, { type: "nodes" }>): string {
  const time = message.at.slice(11, 19);
  if (message.type === "session.moved") {
    const { session_id, from, to, reason, sequence } = message;
    return `${time} ${session_id} ${reason === "takeover" ? "taken over" : "moved"}${from === null ? "" : ` from ${from}`} by ${to} at #${sequence}`;
  }
  return `${time} ${message.node.node_id} ${message.type.slice("node.".length).replace("_", " ")}`;
}

export const nodesDrain: Command = {
  name: "nodes drain",
  usage: "nodes drain <node> [--undo]",
  about: "let a node give its sessions away, each when its turn has ended",
  help: `  Sessions that no other node can take stay until the node stops. With --undo it takes new ones again.`,
  options: { undo: { type: "boolean", about: "take new sessions again" } },
  async run(call) {
    const node = need(call.words, 0, "the node");
    await (await call.daemon()).drainNode(node, { undo: flag(call.values, "undo") });
    return done(call, { node, draining: !flag(call.values, "undo") });
  },
};

export const nodesFence: Command = {
  name: "nodes fence",
  usage: "nodes fence <node>",
  about: "take a node's sessions away at once: for one that hangs, or cannot be reached",
  async run(call) {
    const node = need(call.words, 0, "the node");
    await (await call.daemon()).fenceNode(node);
    return done(call, { node, fenced: true });
  },
};

export const move: Command = {
  name: "move",
  usage: "move <session> [<node>]",
  about: "give a session to another node of the fleet",
  options: { now: { type: "boolean", about: "cut a running turn instead of waiting for its end" } },
  completes: ["sessions"],
  async run(call) {
    const id = need(call.words, 0, "the session");
    const node = call.words[1];
    await (await call.daemon())
      .session(id)
      .move({ ...(node === undefined ? {} : { node }), when: flag(call.values, "now") ? "now" : "turn_end" });
    return done(call, { session_id: id, moving: true });
  },
};

const databaseOption = {
  cluster: { type: "string", value: "<url>", about: "the Postgres of the fleet (default: DRAGOMAN_CLUSTER)" },
} as const;

const databaseUrl = (values: Parameters<typeof text>[0], env: NodeJS.ProcessEnv): string => {
  const url = text(values, "cluster") ?? env.DRAGOMAN_CLUSTER;
  if (url === undefined) throw new UsageError("--cluster postgres://… is missing");
  return url;
};

export const clusterInit: Command = {
  name: "cluster init",
  usage: "cluster init --cluster <url>",
  about: "make the tables of a fleet in a Postgres, and a secret for its nodes",
  help: `  Safe to repeat: what is there stays. Nodes make the tables themselves too, where they may. The secret is printed, and kept nowhere:
  give the same one to every node.`,
  options: databaseOption,
  async run({ values, terminal, print, json }) {
    const { initCluster } = await import("../../daemon/cluster-care.ts");
    const place = await initCluster(databaseUrl(values, terminal.env));
    const secret = randomHex(32);
    if (flag(values, "json")) json({ place, secret });
    else {
      print(`The tables are in ${place}.`);
      print(`A secret for its nodes, unless they have one: ${secret}`);
    }
    return EXIT.ok;
  },
};

export const clusterCheck: Command = {
  name: "cluster check",
  usage: "cluster check --cluster <url>",
  about: "check a fleet: its database, its nodes, sessions that nobody owns, and the bucket of DRAGOMAN_ARTIFACTS",
  options: databaseOption,
  async run({ values, terminal, print, json }) {
    const { checkCluster } = await import("../../daemon/cluster-care.ts");
    const found = await checkCluster(databaseUrl(values, terminal.env), terminal.env.DRAGOMAN_ARTIFACTS);
    if (flag(values, "json")) json(found);
    else {
      for (const line of found.facts) print(line);
      for (const line of found.faults) print(`! ${line}`);
    }
    return found.faults.length === 0 ? EXIT.ok : EXIT.failed;
  },
};

export const clusterAfterRestore: Command = {
  name: "cluster after-restore",
  usage: "cluster after-restore --cluster <url>",
  about: "after the database was restored from a backup: refuse every node that lived on",
  help: `  Raises every epoch. Nodes that ran on while the database was restored are refused and join again; clients whose cursors lie beyond
  the restored end are informed and read again.`,
  options: databaseOption,
  async run({ values, terminal, print, json }) {
    const { afterRestore } = await import("../../daemon/cluster-care.ts");
    const sessions = await afterRestore(databaseUrl(values, terminal.env));
    if (flag(values, "json")) json({ sessions });
    else print(`Sessions with a new epoch: ${sessions}. Start the nodes; those that run join again by themselves.`);
    return EXIT.ok;
  },
};
