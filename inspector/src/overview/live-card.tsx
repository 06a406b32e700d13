/** One living session in the overview: who, where, its last line as it comes, how long it has worked, and what it waits for, answered in place. */
import { memo } from "react";
import type { Session } from "../../../src/schema/session.ts";
import { visibleLine } from "../../../src/schema/visible-text.ts";
import { RequestCards } from "../requests/request-cards.tsx";
import { titleOf } from "../sessions/session-row.tsx";
import { StatusTag } from "../sessions/status.tsx";
import { useShownLine } from "../sessions/use-last-line.ts";
import { agentName, agents } from "../state/agents.ts";
import { hrefOf } from "../state/route.ts";
import { useStore } from "../state/store.ts";
import { AgentIcon } from "../ui/agent-icon.tsx";
import { ago, baseName } from "../ui/format.ts";

export const LiveCard = memo(function LiveCard({ row, now }: { row: Session; now: number }) {
  const name = agentName(useStore(agents), row.agent);
  const line = useShownLine(row);
  return (
    <article className="live-card" aria-label={titleOf(row)}>
      <a className="live-head" href={hrefOf({ page: "session", id: row.session_id })}>
        <AgentIcon agent={row.agent} />
        <strong>
          <bdi>{titleOf(row)}</bdi>
        </strong>
        <StatusTag row={row} />
      </a>
      {row.status !== "waiting" && (
        <p className="live-line">
          {line?.byUser && <span className="dim">You: </span>}
          <bdi>{visibleLine(line?.text ?? "\u00a0")}</bdi>
        </p>
      )}
      <p className="live-facts dim">
        <span>{name}</span>
        <span title={visibleLine(row.directory)}>
          <bdi>{visibleLine(baseName(row.directory))}</bdi>
        </span>
        <span>{ago(row.updated_at, now)}</span>
      </p>
      <RequestCards session={row.session_id} agent={row.agent} chords={false} />
    </article>
  );
});
