/** The nodes of the fleet this daemon belongs to, and which sessions went where, kept up to date by one stream. A daemon by itself has no nodes, and nothing of this is shown. */
import { DragomanError } from "../../../src/client/error.ts";
import type { FleetMessage, Node } from "../../../src/schema/node.ts";
import { daemon } from "./daemon.ts";
import { sessions } from "./sessions.ts";
import { Store } from "./store.ts";

export type Moved = Extract<FleetMessage, { type: "session.moved" }>;
/** A change of a node that a person wants to know of. */
export type NodeNews = Exclude<FleetMessage, { type: "nodes" | "session.moved" }>;
export type Fleet = {
  nodes: readonly Node[];
  /** The newest first, since the page was opened. */
  news: readonly (Moved | NodeNews)[];
};

const KEPT_NEWS = 200;
/** Changes after which sessions that waited may go on, or must wait: no event of theirs says so. */
const CHANGES_SESSIONS = new Set<FleetMessage["type"]>(["node.joined", "node.lease_lost", "node.fenced", "node.left"]);

export const fleet = new Store<Fleet>({ nodes: [], news: [] });

/** Until `signal`. Ends at once where there is no fleet, or this token may not see it. */
export async function watchFleet(signal: AbortSignal): Promise<void> {
  try {
    const nodes = await daemon.nodes(signal);
    if (nodes.length === 0) return;
    fleet.set({ nodes, news: [] });
    for await (const { message } of daemon.watchNodes({ signal })) {
      fleet.update((before) => apply(before, message));
      if (CHANGES_SESSIONS.has(message.type)) void sessions.reload(signal).catch(() => {});
    }
  } catch (error) {
    if (!(error instanceof DragomanError)) throw error;
  }
}

function apply({ nodes, news }: Fleet, message: FleetMessage): Fleet {
  if (message.type === "nodes") return { nodes: message.nodes, news };
  const kept = message.type === "node.load" ? news : [message, ...news].slice(0, KEPT_NEWS);
  if (message.type === "session.moved") return { nodes, news: kept };
  const others = nodes.filter(({ node_id }) => node_id !== message.node.node_id);
  if (message.type === "node.forgotten") return { nodes: others, news: kept };
  return { nodes: [...others, message.node].sort((a, b) => (a.node_id < b.node_id ? -1 : 1)), news: kept };
}

/** What the list of sessions can be limited to: each node by its name, and each label that nodes have, as `zone=a`. */
export function nodeChoices(nodes: readonly Node[]): string[] {
  const own = nodes.filter(({ kind, state }) => kind === "node" && state !== "left");
  const labels = own.flatMap((each) => Object.entries(each.labels).map(([name, value]) => `${name}=${value}`));
  return [...own.map(({ node_id }) => node_id), ...[...new Set(labels)].sort()];
}

/** The nodes that such a choice means; null: all. */
export function nodesMeant(nodes: readonly Node[], choice: string): ReadonlySet<string> | null {
  if (choice === "") return null;
  const meant = nodes.filter(
    ({ node_id, labels }) => node_id === choice || Object.entries(labels).some(([name, value]) => `${name}=${value}` === choice),
  );
  return new Set(meant.map(({ node_id }) => node_id));
}

/** Node and page agree on one word for what a node is. */
export type NodeCondition = "up" | "draining" | "silent" | "fenced" | "left";
export const conditionOf = ({ state, lease_ms }: Node): NodeCondition =>
  (state === "up" || state === "draining") && lease_ms < 0 ? "silent" : state;
