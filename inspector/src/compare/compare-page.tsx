/** Two sessions side by side, each as it is: for the same task given to two agents, or a fork and where it came from. */
import { useEffect, useMemo } from "react";
import { RequestDock } from "../requests/dock.tsx";
import { titleOf } from "../sessions/session-row.tsx";
import { SidebarToggle } from "../sessions/sidebar-toggle.tsx";
import { StatusTag } from "../sessions/status.tsx";
import { go, hrefOf } from "../state/route.ts";
import { sessions } from "../state/sessions.ts";
import { useSignal } from "../state/store.ts";
import { TranscriptView } from "../transcript/context.ts";
import { TranscriptPane } from "../transcript/transcript.tsx";
import { AgentIcon } from "../ui/agent-icon.tsx";
import { Choice } from "../ui/choice.tsx";
import { Notice, Spinner } from "../ui/controls.tsx";
import { count, money } from "../ui/format.ts";
import { Icon } from "../ui/icons.tsx";

export default function ComparePage({ ids }: { ids: readonly [string, string] }) {
  return (
    <main className="page compare-page">
      <h1 className="sr">Two sessions side by side</h1>
      <div className="compare-columns">
        {ids.map((id, index) => (
          <Side
            key={id}
            id={id}
            first={index === 0}
            onOther={(other) => go({ page: "compare", ids: index === 0 ? [other, ids[1]] : [ids[0], other] })}
          />
        ))}
      </div>
    </main>
  );
}

function Side({ id, first, onOther }: { id: string; first: boolean; onOther(id: string): void }) {
  const view = useMemo(() => new TranscriptView(id), [id]);
  const row = useSignal(sessions.changed, () => sessions.get(id));
  const rows = useSignal(sessions.changed, sessions.list);
  const loading = useSignal(view.changed, () => view.loading);
  useEffect(() => {
    view.open();
    return () => view.close();
  }, [view]);
  if (!row) return <Notice kind="warning">There is no session {id}.</Notice>;
  const { usage } = row;
  return (
    <section className="compare-side" aria-label={titleOf(row)}>
      <header className="session-head">
        {first && <SidebarToggle />}
        <div className="session-name">
          <Choice
            label="Session"
            value={id}
            options={rows.slice(0, 200).map((each) => ({
              value: each.session_id,
              label: titleOf(each),
              hint: each.agent,
              icon: <AgentIcon agent={each.agent} size={16} />,
            }))}
            onChange={onOther}
          />
          <div className="session-facts">
            <StatusTag row={row} />
            {usage && (
              <span className="dim">
                {count(usage.input_tokens)} in · {count(usage.output_tokens)} out
                {usage.cost_usd !== undefined && ` · ${money(usage.cost_usd)}`}
              </span>
            )}
          </div>
        </div>
        <a className="icon-button" href={hrefOf({ page: "session", id })} aria-label="Open alone" title="Open alone">
          <Icon name="external" />
        </a>
      </header>
      {loading.state === "ready" ? (
        <TranscriptPane view={view} />
      ) : loading.state === "failed" ? (
        <Notice kind="error">{loading.detail}</Notice>
      ) : (
        <Spinner label="loading the transcript" />
      )}
      <div className="foot">
        <RequestDock session={id} agent={row.agent} />
      </div>
    </section>
  );
}
