/** The drawer: what happened, what the agent really said, how it was understood, how long it took. */
import { Tabs } from "@base-ui/react/tabs";
import { lazy, type PointerEvent, Suspense, useEffect, useState } from "react";
import type { Session } from "../../../src/schema/session.ts";
import { SessionArtifacts } from "../artifacts/session-artifacts.tsx";
import { SessionFiles } from "../files/session-files.tsx";
import { Changes } from "../review/changes.tsx";
import { prefer, preferences } from "../state/preferences.ts";
import { useStore } from "../state/store.ts";
import { SessionTasks } from "../terminal/session-tasks.tsx";
import type { TranscriptView } from "../transcript/context.ts";
import { IconButton, Spinner } from "../ui/controls.tsx";
import { AgentState } from "./agent-state.tsx";
import { Coverage } from "./coverage.tsx";
import { Requests } from "./requests.tsx";
import { Scrubber } from "./scrubber.tsx";
import { Timeline } from "./timeline.tsx";

const Charts = lazy(() => import("./charts.tsx"));

export default function Drawer({ row, view }: { row: Session; view: TranscriptView }) {
  const reviewed = useStore(view.reviewed);
  const [tab, setTab] = useState(reviewed === null ? "timeline" : "changes");
  useEffect(() => {
    if (reviewed !== null) setTab("changes");
  }, [reviewed]);
  return (
    <>
      <Grip />
      <Tabs.Root value={tab} onValueChange={(next) => setTab(String(next))} className="drawer-tabs">
        <div className="drawer-head">
          <Tabs.List className="tab-list" aria-label="Debugging views">
            <Tabs.Tab className="tab" value="timeline">
              Timeline
            </Tabs.Tab>
            <Tabs.Tab className="tab" value="changes">
              Changes
            </Tabs.Tab>
            <Tabs.Tab className="tab" value="files">
              Files
            </Tabs.Tab>
            <Tabs.Tab className="tab" value="artifacts">
              Artifacts
            </Tabs.Tab>
            <Tabs.Tab className="tab" value="terminal">
              Terminal
            </Tabs.Tab>
            <Tabs.Tab className="tab" value="coverage">
              Coverage
            </Tabs.Tab>
            <Tabs.Tab className="tab" value="state">
              State
            </Tabs.Tab>
            <Tabs.Tab className="tab" value="charts">
              Charts
            </Tabs.Tab>
            <Tabs.Tab className="tab" value="requests">
              Requests
            </Tabs.Tab>
          </Tabs.List>
          <IconButton icon="cross" label="Close the drawer" onClick={() => prefer({ drawer: false })} />
        </div>
        <Scrubber row={row} view={view} />
        <Tabs.Panel className="tab-panel" value="timeline">
          <Timeline row={row} view={view} />
        </Tabs.Panel>
        <Tabs.Panel className="tab-panel" value="changes">
          <Changes row={row} view={view} />
        </Tabs.Panel>
        <Tabs.Panel className="tab-panel" value="files">
          <SessionFiles row={row} />
        </Tabs.Panel>
        <Tabs.Panel className="tab-panel" value="artifacts">
          <SessionArtifacts row={row} />
        </Tabs.Panel>
        <Tabs.Panel className="tab-panel" value="terminal">
          <SessionTasks row={row} />
        </Tabs.Panel>
        <Tabs.Panel className="tab-panel" value="coverage">
          <Coverage row={row} />
        </Tabs.Panel>
        <Tabs.Panel className="tab-panel" value="state">
          <AgentState row={row} />
        </Tabs.Panel>
        <Tabs.Panel className="tab-panel" value="charts">
          <Suspense fallback={<Spinner label="loading" />}>
            <Charts row={row} />
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel className="tab-panel" value="requests">
          <Requests />
        </Tabs.Panel>
      </Tabs.Root>
    </>
  );
}

const NARROWEST = 320;

/** Drags the drawer's width. */
function Grip() {
  const onPointerMove = (event: PointerEvent): void => {
    if (event.buttons !== 1) return;
    prefer({ drawerWidth: Math.max(NARROWEST, Math.min(window.innerWidth - event.clientX, window.innerWidth * 0.7)) });
  };
  return (
    <div
      className="grip"
      aria-hidden="true"
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={onPointerMove}
      onDoubleClick={() => prefer({ drawerWidth: preferences.get().drawerWidth > 600 ? 520 : 760 })}
    />
  );
}
