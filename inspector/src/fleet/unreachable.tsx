/** Said above the composer of a session that nobody can send anything: whom it waits for, and what one can do meanwhile. */
import type { Session } from "../../../src/schema/session.ts";
import { visibleLine } from "../../../src/schema/visible-text.ts";
import { Notice } from "../ui/controls.tsx";

export function Unreachable({ row }: { row: Session }) {
  if (row.reachable !== false) return null;
  const home = visibleLine(row.home ?? "its node");
  if (!row.unclaimable)
    return (
      <Notice kind="info">
        No node owns this session now. Another one takes it over in a moment; what you send waits for that.
      </Notice>
    );
  return (
    <Notice kind="warning">
      <strong>Waits for {home}.</strong>{" "}
      {row.unclaimable === "directory"
        ? `Its directory is on ${home} alone, and no living node shares it.`
        : `No living node that shares its directory has the agent ${row.agent}.`}{" "}
      Nothing is lost: it can be read and exported, and goes on when {home} is started again
      {row.unclaimable === "agent" ? ", or when another node has the agent" : ""}. To go on elsewhere now, export it and import it
      at another node.
    </Notice>
  );
}
