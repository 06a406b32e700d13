/** The drawer: what happened, what the agent really said, how it was understood, how long it took. */
import { Tabs } from "@base-ui/react/tabs";
import { lazy, type PointerEvent, type ReactNode, Suspense } from "react";
import type { Session } from "../../../src/schema/session.ts";
import { SessionArtifacts } from "../artifacts/session-artifacts.tsx";
import { SessionFiles } from "../files/session-files.tsx";
import { Changes } from "../review/changes.tsx";
import { type DrawerTab, drawerTab } from "../state/drawer-tab.ts";
import { prefer, preferences } from "../state/preferences.ts";
import { useSignal, useStore } from "../state/store.ts";
import { SessionTasks } from "../terminal/session-tasks.tsx";
import type { TranscriptView } from "../transcript/context.ts";
import { IconButton, Spinner } from "../ui/controls.tsx";
import { AgentState } from "./agent-state.tsx";
import { Coverage } from "./coverage.tsx";
import { NativeMessages } from "./native-messages.tsx";
import { Requests } from "./requests.tsx";
import { Scrubber } from "./scrubber.tsx";
import { Timeline } from "./timeline.tsx";

const Charts = lazy(() => import("./charts.tsx"));

type View = { id: DrawerTab; name: string; show(row: Session, view: TranscriptView): ReactNode };

const views: readonly View[] = [
  { id: "timeline", name: "Timeline", show: (row, view) => <Timeline row={row} view={view} /> },
  { id: "changes", name: "Changes", show: (row, view) => <Changes row={row} view={view} /> },
  { id: "files", name: "Files", show: (row) => <SessionFiles row={row} /> },
  { id: "artifacts", name: "Artifacts", show: (row) => <SessionArtifacts row={row} /> },
  { id: "terminal", name: "Terminal", show: (row) => <SessionTasks row={row} /> },
  { id: "native", name: "Native", show: (row) => <NativeMessages row={row} /> },
  { id: "coverage", name: "Coverage", show: (row) => <Coverage row={row} /> },
  { id: "state", name: "State", show: (row) => <AgentState row={row} /> },
  { id: "charts", name: "Charts", show: (row) => <Charts row={row} /> },
  { id: "requests", name: "Requests", show: () => <Requests /> },
];

export default function Drawer({ row, view }: { row: Session; view: TranscriptView }) {
  const replaying = useSignal(view.changed, () => view.replay !== null);
  const tab = useStore(drawerTab);
  return (
    <>
      <Grip />
      <Tabs.Root value={tab} onValueChange={(next: DrawerTab) => drawerTab.set(next)} className="drawer-tabs">
        <div className="drawer-head">
          <Tabs.List className="tab-list" aria-label="Debugging views">
            {views.map(({ id, name }) => (
              <Tabs.Tab key={id} className="tab" value={id}>
                {name}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          <IconButton icon="cross" label="Close the drawer" onClick={() => prefer({ drawer: false })} />
        </div>
        {/* Elsewhere it would say nothing, unless the transcript beside it is one of the past. */}
        {(tab === "timeline" || replaying) && <Scrubber row={row} view={view} />}
        {views.map(({ id, show }) => (
          <Tabs.Panel key={id} className="tab-panel" value={id}>
            <Suspense fallback={<Spinner label="loading" />}>{show(row, view)}</Suspense>
          </Tabs.Panel>
        ))}
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
