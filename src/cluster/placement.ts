/** Where a new session goes, or one that must move: pure, so that the same nodes and the same chance give the same answer. */
import type { NodeRow, Ownership } from "./registry.ts";

export type PlacementWish = {
  /** Exactly this node. */
  node?: string;
  /** Nodes that have all of these. */
  labels?: Readonly<Record<string, string>>;
  agent: string;
  /** The shared place its directory lies in, as the node that was asked knows it; null: no shared place. */
  place: string | null;
};

export type Placement = { node: NodeRow } | { refused: "node_not_found" | "node_full" | "no_node" };

export const isLiving = ({ state, lease_ms }: NodeRow): boolean => state !== "fenced" && lease_ms >= 0;
export const takesNew = (node: NodeRow): boolean => node.kind === "node" && node.state === "up" && isLiving(node);

export const hasLabels = (labels: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string>> = {}): boolean =>
  Object.entries(wanted).every(([name, value]) => labels[name] === value);

/** [O11] The less loaded of two chosen at random: all who choose at the same moment do not choose the same. */
export function placeSession(
  nodes: readonly NodeRow[],
  wish: PlacementWish,
  random: () => number,
  tried: readonly string[] = [],
): Placement {
  if (wish.node !== undefined && !nodes.some(({ node_id, kind }) => node_id === wish.node && kind === "node"))
    return { refused: "node_not_found" };
  const fitting = nodes.filter(
    (node) =>
      takesNew(node) &&
      !tried.includes(node.node_id) &&
      (wish.node === undefined || node.node_id === wish.node) &&
      node.agents.includes(wish.agent) &&
      hasLabels(node.labels, wish.labels) &&
      (wish.place === null || node.places.includes(wish.place)),
  );
  const free = fitting.filter(({ load, capacity }) => load < capacity);
  const pick = (): NodeRow | undefined => free[Math.floor(random() * free.length)];
  const [one, other] = [pick(), pick()];
  if (!one || !other) return { refused: fitting.length > 0 ? "node_full" : "no_node" };
  return { node: share(other) < share(one) ? other : one };
}

const share = ({ load, capacity }: NodeRow): number => load / Math.max(1, capacity);

/** Why nobody takes a session that has no living owner; null when somebody will, or it has one. */
export function unclaimable(session: Ownership, nodes: readonly NodeRow[]): "directory" | "agent" | null {
  if (session.owned) return null;
  const there = nodes.filter(
    (node) =>
      takesNew(node) && (node.node_id === session.home || (session.place !== null && node.places.includes(session.place))),
  );
  if (there.length === 0) return "directory";
  return there.some(({ agents }) => agents.includes(session.agent)) ? null : "agent";
}
