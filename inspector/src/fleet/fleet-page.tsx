/** The fleet: its nodes with what they carry, what a person may decide about them, and which sessions went where while the page is open. */
import { useState } from "react";
import type { Node } from "../../../src/schema/node.ts";
import { visibleLine } from "../../../src/schema/visible-text.ts";
import { access, isAdmin } from "../state/daemon.ts";
import { conditionOf, fleet, type NodeCondition } from "../state/fleet.ts";
import { useStore } from "../state/store.ts";
import { Button, Notice } from "../ui/controls.tsx";
import { PageHead } from "../ui/page-head.tsx";
import { scrollable } from "../ui/scrollable.ts";
import { FleetNews } from "./fleet-news.tsx";
import { type Decision, NodeDecision } from "./node-decision.tsx";

const CONDITIONS: Record<NodeCondition, { word: string; kind: string; about: string }> = {
  up: { word: "up", kind: "good", about: "Takes new sessions." },
  draining: {
    word: "draining",
    kind: "warn",
    about: "Takes nothing new and gives its sessions away, each when its turn has ended.",
  },
  silent: { word: "silent", kind: "bad", about: "Its lease has run out. Other nodes will fence it and take its sessions over." },
  fenced: { word: "fenced", kind: "bad", about: "Other nodes take its sessions over. It comes back by itself when it lives." },
  left: { word: "left", kind: "", about: "It was stopped. Its sessions go on elsewhere where they can." },
};

export default function FleetPage() {
  const { nodes } = useStore(fleet);
  const admin = isAdmin(useStore(access));
  const [decision, setDecision] = useState<Decision | null>(null);
  const [showsLeft, setShowsLeft] = useState(false);
  const left = nodes.filter((node) => conditionOf(node) === "left");
  const shown = showsLeft ? nodes : nodes.filter((node) => !left.includes(node));
  const living = nodes.filter((node) => ["up", "draining"].includes(conditionOf(node)));
  return (
    <main className="page">
      <PageHead
        title="Fleet"
        about={`${living.length} of ${nodes.length - left.length} nodes live · ${sum(nodes, "sessions")} sessions · ${sum(living, "load")} of ${sum(living, "capacity")} places used`}
      />
      <section className="fleet" aria-label="Fleet" {...scrollable}>
        {nodes.length === 0 && <Notice kind="info">This daemon is no node of a fleet.</Notice>}
        {!admin && nodes.length > 0 && (
          <Notice kind="info">
            Draining and fencing needs the role admin: open the page with <code>dragoman open --role admin</code>.
          </Notice>
        )}
        <div className="fleet-nodes">
          {shown.map((node) => (
            <NodeCard key={node.node_id} node={node} admin={admin} onDecide={setDecision} />
          ))}
        </div>
        {left.length > 0 && (
          <p>
            <Button onClick={() => setShowsLeft(!showsLeft)}>
              {showsLeft ? "Hide nodes that left" : `Show ${left.length} that left`}
            </Button>
          </p>
        )}
        <FleetNews />
      </section>
      <NodeDecision decision={decision} onClose={() => setDecision(null)} />
    </main>
  );
}

const sum = (nodes: readonly Node[], field: "sessions" | "load" | "capacity"): number =>
  nodes.filter(({ kind }) => kind === "node").reduce((total, node) => total + node[field], 0);

function NodeCard({ node, admin, onDecide }: { node: Node; admin: boolean; onDecide(decision: Decision): void }) {
  const condition = conditionOf(node);
  const { word, kind, about } = CONDITIONS[condition];
  const gone = condition === "left" || condition === "fenced";
  return (
    <article className={`node-card ${gone ? "gone" : ""}`} aria-label={node.node_id}>
      <header>
        <h2>{visibleLine(node.node_id)}</h2>
        {node.kind === "gateway" && <span className="tag">gateway</span>}
        {node.self && <span className="tag">answers here</span>}
        <span className="grow" />
        <span className={`tag ${kind}`} title={about} data-state={word}>
          {word}
        </span>
      </header>
      {node.kind === "node" && (
        <div className="node-load">
          <meter min={0} max={Math.max(1, node.capacity)} value={node.load} aria-label={`Load of ${node.node_id}`} />
          <span>
            {node.load} of {node.capacity} running
          </span>
          <span className="dim">
            {node.sessions} {node.sessions === 1 ? "session" : "sessions"} owned
          </span>
        </div>
      )}
      <dl className="node-facts">
        <Fact name="Lease" value={leaseOf(node, condition)} />
        <Fact name="Places" value={node.places.join(", ")} />
        <Fact
          name="Labels"
          value={Object.entries(node.labels)
            .map(([name, value]) => `${name}=${value}`)
            .join(", ")}
        />
        <Fact name="Agents" value={node.agents.join(", ")} />
        <Fact name="Address" value={node.url} />
        <Fact name="Version" value={node.version} />
      </dl>
      {admin && node.kind === "node" && !gone && (
        <footer>
          {node.state === "draining" ? (
            <Button onClick={() => onDecide({ node, action: "undo" })}>Take sessions again</Button>
          ) : (
            <Button onClick={() => onDecide({ node, action: "drain" })}>Drain…</Button>
          )}
          <Button look="danger" onClick={() => onDecide({ node, action: "fence" })}>
            Fence…
          </Button>
        </footer>
      )}
    </article>
  );
}

const Fact = ({ name, value }: { name: string; value: string }) =>
  value === "" ? null : (
    <>
      <dt>{name}</dt>
      <dd>
        <bdi>{visibleLine(value)}</bdi>
      </dd>
    </>
  );

/** What is left of it changes all the time, and is sent only with other changes: whether it holds is what counts. */
function leaseOf({ lease_ms }: Node, condition: NodeCondition): string {
  if (condition === "up" || condition === "draining") return "held";
  return condition === "silent" ? `ran out ${Math.max(1, Math.round(-lease_ms / 1000))} s ago` : "";
}
