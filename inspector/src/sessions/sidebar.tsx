/** The left side: a new session, what waits, the list of all sessions, and the doors to everything else. */
import { access, canOperate } from "../state/daemon.ts";
import { fleet } from "../state/fleet.ts";
import { otherDaemons } from "../state/other-daemons.ts";
import { hrefOf, route } from "../state/route.ts";
import { listFault } from "../state/sessions.ts";
import { useStore } from "../state/store.ts";
import { IconButton, Notice } from "../ui/controls.tsx";
import { Icon, type IconName } from "../ui/icons.tsx";
import { SessionFinder } from "./session-finder.tsx";
import { WaitingButton } from "./waiting-button.tsx";

const DOORS = [
  { page: "agents", label: "Agents", icon: "bot" },
  { page: "usage", label: "Usage", icon: "chart" },
  { page: "skills", label: "Skills", icon: "flag" },
  { page: "fleet", label: "Fleet", icon: "server" },
  { page: "daemons", label: "Daemons", icon: "plug" },
  { page: "settings", label: "Settings", icon: "settings" },
] as const satisfies { page: string; label: string; icon: IconName }[];

export function Sidebar({ onNew, onFind }: { onNew(): void; onFind(): void }) {
  const fault = useStore(listFault);
  const operate = canOperate(useStore(access));
  const here = useStore(route);
  const inFleet = useStore(fleet).nodes.length > 0;
  const beside = useStore(otherDaemons).length > 0;
  return (
    <nav className="sidebar" aria-label="Sessions">
      <header className="sidebar-head">
        <a className="brand" href={hrefOf({ page: "home" })}>
          <img src="/ui/icon.svg" alt="" width="22" height="22" />
          dragoman
        </a>
        <IconButton icon="search" label="Go to anything (Ctrl+K)" onClick={onFind} />
      </header>
      {operate && (
        <button type="button" className="new-session" onClick={onNew}>
          <Icon name="plus" /> New session <kbd>Alt N</kbd>
        </button>
      )}
      <WaitingButton />
      {fault && <Notice kind="error">{fault}</Notice>}
      <SessionFinder />
      {!operate && (
        <p className="role" title="This token can see everything and change nothing">
          <Icon name="eye" size={14} /> read-only
        </p>
      )}
      <footer className="sidebar-foot">
        {DOORS.filter(({ page }) => (page === "fleet" ? inFleet : page === "daemons" ? beside : true)).map(
          ({ page, label, icon }) => (
            <a key={page} href={hrefOf({ page })} aria-current={here.page === page ? "page" : undefined}>
              <Icon name={icon} />
              {label}
            </a>
          ),
        )}
      </footer>
    </nav>
  );
}
