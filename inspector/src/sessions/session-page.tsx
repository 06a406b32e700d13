/** One open session: header, transcript, what waits, composer, and the drawer to look behind it. */
import { lazy, Suspense, useEffect, useMemo } from "react";
import type { Session } from "../../../src/schema/session.ts";
import { visibleLine } from "../../../src/schema/visible-text.ts";
import { Composer } from "../composer/composer.tsx";
import { Unreachable } from "../fleet/unreachable.tsx";
import { RequestDock } from "../requests/dock.tsx";
import { agentName, agents } from "../state/agents.ts";
import { access, canOperate } from "../state/daemon.ts";
import { outbox } from "../state/outbox.ts";
import { markSeen, prefer, preferences } from "../state/preferences.ts";
import { hrefOf } from "../state/route.ts";
import { sessions } from "../state/sessions.ts";
import { useSignal, useStore } from "../state/store.ts";
import { TranscriptView } from "../transcript/context.ts";
import { TranscriptPane } from "../transcript/transcript.tsx";
import { AgentIcon } from "../ui/agent-icon.tsx";
import { Button, IconButton, Notice, Spinner } from "../ui/controls.tsx";
import { baseName, count, money } from "../ui/format.ts";
import { Icon } from "../ui/icons.tsx";
import { FamilyLinks } from "./family-links.tsx";
import { SessionActions } from "./session-actions.tsx";
import { titleOf } from "./session-row.tsx";
import { SidebarToggle } from "./sidebar-toggle.tsx";
import { StatusTag } from "./status.tsx";

const Drawer = lazy(() => import("../debug/drawer.tsx"));

export function SessionPage({ id, at }: { id: string; at: number | null }) {
  const view = useMemo(() => new TranscriptView(id), [id]);
  const row = useSignal(sessions.changed, () => sessions.get(id));
  const loaded = useSignal(sessions.changed, sessions.loaded);
  const { drawer, drawerWidth } = useStore(preferences);
  useEffect(() => {
    view.open();
    return () => view.close();
  }, [view]);
  useEffect(() => {
    if (at !== null) void view.load(at);
  }, [view, at]);
  useSeen(row);
  if (!row)
    return (
      <main className="page">
        <div className="blank">
          {loaded ? <Notice kind="warning">There is no session {id}.</Notice> : <Spinner label="loading" />}
        </div>
      </main>
    );
  return (
    <>
      <main className="page session-page">
        <SessionHead row={row} />
        <SessionBody row={row} view={view} />
      </main>
      {drawer && (
        <aside className="drawer" aria-label="Debugging" style={{ width: drawerWidth }}>
          <Suspense fallback={<Spinner label="loading" />}>
            <Drawer row={row} view={view} />
          </Suspense>
        </aside>
      )}
    </>
  );
}

function SessionHead({ row }: { row: Session }) {
  const { drawer } = useStore(preferences);
  const { usage } = row;
  const name = agentName(useStore(agents), row.agent);
  const used = usage?.context_used !== undefined && usage.context_window ? usage.context_used / usage.context_window : null;
  return (
    <header className="session-head">
      <SidebarToggle />
      <div className="session-name">
        <h1 title={row.session_id}>
          <bdi>{titleOf(row)}</bdi>
        </h1>
        <div className="session-facts">
          <StatusTag row={row} />
          {row.archived && <span className="tag">archived</span>}
          <FamilyLinks row={row} />
          <span title={row.agent_version ?? undefined}>
            <AgentIcon agent={row.agent} size={16} />
            {name} <span className="dim">{row.agent_version}</span>
          </span>
          <span title={visibleLine(row.directory)}>
            <Icon name="folder" size={13} />
            <bdi>{visibleLine(baseName(row.directory))}</bdi>
          </span>
          {row.node && (
            <a className="dim" href={hrefOf({ page: "fleet" })} title="The node it is on">
              <Icon name="server" size={13} />
              <bdi>{visibleLine(row.node)}</bdi>
            </a>
          )}
          {usage && (
            <span className="dim" title={`${usage.input_tokens} tokens in, ${usage.output_tokens} out`}>
              {count(usage.input_tokens)} in · {count(usage.output_tokens)} out
            </span>
          )}
          {usage?.cost_usd !== undefined && <span>{money(usage.cost_usd)}</span>}
          {used !== null && (
            <span className="context-meter" title={`Context: ${Math.round(used * 100)} % used`}>
              <meter min={0} max={1} high={0.8} value={used} aria-label="Context used" />
              {Math.round(used * 100)} %
            </span>
          )}
        </div>
      </div>
      <SessionActions row={row} />
      <IconButton
        icon="panel"
        label={drawer ? "Hide the debugging drawer" : "Show the debugging drawer"}
        aria-pressed={drawer}
        onClick={() => prefer({ drawer: !drawer })}
      />
    </header>
  );
}

function SessionBody({ row, view }: { row: Session; view: TranscriptView }) {
  const loading = useSignal(view.changed, () => view.loading);
  const replay = useSignal(view.changed, () => view.replay);
  const operate = canOperate(useStore(access));
  const config = useSignal(view.changed, () => view.fold.config);
  const queue = useSignal(view.changed, () => view.fold.session.queue);
  const empty = useSignal(view.changed, () => view.fold.isEmpty);
  const sending = useStore(outbox).some((each) => each.session_id === row.session_id);
  if (loading.state === "loading" && !sending)
    return (
      <div className="blank">
        <Spinner label="loading the transcript" />
      </div>
    );
  if (loading.state === "failed")
    return (
      <div className="blank">
        <Notice kind="error">{loading.detail}</Notice>
        <Button onClick={() => void view.load(null)}>Try again</Button>
      </div>
    );
  return (
    <>
      {replay !== null && (
        <div className="replay-banner" role="status">
          As it stood at event {replay.toLocaleString()} of {row.last_sequence.toLocaleString()}
          <Button onClick={() => void view.load(null)}>Back to now</Button>
        </div>
      )}
      {empty && row.last_sequence < 3 && !sending && row.status !== "running" && row.status !== "starting" ? (
        <div className="blank">
          <p className="dim">Nothing yet. Send the first message below.</p>
        </div>
      ) : (
        <TranscriptPane key={view.id} view={view} />
      )}
      <div className="foot">
        <Unreachable row={row} />
        <RequestDock session={row.session_id} agent={row.agent} />
        {operate ? (
          <Composer key={row.session_id} row={row} config={config} queue={queue} />
        ) : (
          <p className="composer-closed">Read-only: this token can see everything and change nothing.</p>
        )}
      </div>
    </>
  );
}

function useSeen(row: Session | undefined): void {
  const id = row?.session_id;
  const last = row?.last_sequence;
  useEffect(() => {
    if (id === undefined || last === undefined) return;
    const note = (): void => {
      if (!document.hidden) markSeen({ [id]: last });
    };
    note();
    document.addEventListener("visibilitychange", note);
    return () => document.removeEventListener("visibilitychange", note);
  }, [id, last]);
}
