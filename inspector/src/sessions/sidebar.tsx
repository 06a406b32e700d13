// The list of all sessions: search, filters, what waits for an answer, and the doors to everything else.
import { Popover } from "@base-ui/react/popover";
import { useEffect, useMemo, useState } from "react";
import type { Session } from "../../../src/schema/session.ts";
import { access, canOperate } from "../state/daemon.ts";
import { prefer, preferences, seen } from "../state/preferences.ts";
import { go, hrefOf, route } from "../state/route.ts";
import { listFault, sessions } from "../state/sessions.ts";
import { useSignal, useStore } from "../state/store.ts";
import { Button, IconButton, Notice } from "../ui/controls.tsx";
import { Icon } from "../ui/icons.tsx";
import { Visible } from "../ui/visible.tsx";
import { type FilterName, filters, matches } from "./filters.ts";
import { groupsOf } from "./groups.ts";
import { SearchHits } from "./search-hits.tsx";
import { SessionRow, titleOf } from "./session-row.tsx";

const THEMES = { system: "light", light: "dark", dark: "system" } as const;
const THEME_ICONS = { system: "auto", light: "sun", dark: "moon" } as const;

export function Sidebar({ onNew, onHelp }: { onNew(): void; onHelp(): void }) {
  const rows = useSignal(sessions.changed, sessions.list);
  const fault = useStore(listFault);
  const { theme } = useStore(preferences);
  const operate = canOperate(useStore(access));
  return (
    <nav className="sidebar" aria-label="Sessions">
      <header className="sidebar-head">
        <a className="brand" href={hrefOf({ page: "home" })}>
          <img src="/ui/icon.svg" alt="" width="20" height="20" />
          dragoman
        </a>
        <IconButton
          icon={THEME_ICONS[theme]}
          label={`Theme: ${theme}. Change to ${THEMES[theme]}`}
          onClick={() => prefer({ theme: THEMES[theme] })}
        />
        <IconButton icon="question" label="Keyboard shortcuts" onClick={onHelp} />
        {operate && <IconButton icon="plus" label="New session" className="accent" onClick={onNew} />}
      </header>
      <WaitingButton />
      {fault && <Notice kind="error">{fault}</Notice>}
      <SessionList rows={rows} />
      <footer className="sidebar-foot">
        <a href={hrefOf({ page: "agents" })}>
          <Icon name="users" size={14} /> Agents
        </a>
        <a href={hrefOf({ page: "skills" })}>
          <Icon name="flag" size={14} /> Skills
        </a>
        <a href="/docs/api" target="_blank" rel="noopener">
          <Icon name="file" size={14} /> API
        </a>
        {!operate && (
          <span className="role" title="This token can see everything and change nothing">
            <Icon name="eye" size={14} /> observing
          </span>
        )}
      </footer>
    </nav>
  );
}

function SessionList({ rows }: { rows: Session[] }) {
  const [search, setSearch] = useState("");
  const [filter, setFilter] = useState<FilterName>("all");
  const [agent, setAgent] = useState("");
  const { grouping } = useStore(preferences);
  const read = useStore(seen);
  const here = useStore(route);
  const current = here.page === "session" ? here.id : null;
  const loaded = useSignal(sessions.changed, sessions.loaded);
  const now = useMinute();
  const names = useMemo(() => [...new Set(rows.map((row) => row.agent))].sort(), [rows]);
  const shown = rows.filter((row) => matches(row, { search, filter, agent }, read));
  return (
    <>
      <div className="search">
        <Icon name="search" size={14} />
        <input
          id="session-search"
          type="search"
          placeholder="Search sessions"
          aria-label="Search sessions"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && shown[0]) go({ page: "session", id: shown[0].session_id });
            if (event.key === "Escape") event.currentTarget.blur();
          }}
        />
      </div>
      <div className="filters" role="toolbar" aria-label="Filters">
        {filters.map(({ name, label }) => (
          <button key={name} type="button" aria-pressed={filter === name} onClick={() => setFilter(name)}>
            {label}
          </button>
        ))}
        <select
          aria-label="Group by"
          value={grouping}
          onChange={(event) => prefer({ grouping: event.target.value === "directory" ? "directory" : "day" })}
        >
          <option value="day">by day</option>
          <option value="directory">by directory</option>
        </select>
        {names.length > 1 && (
          <select aria-label="Agent" value={agent} onChange={(event) => setAgent(event.target.value)}>
            <option value="">any agent</option>
            {names.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
      </div>
      <div className="session-list" id="session-list">
        {groupsOf(shown, grouping, now).map((group) => (
          <section key={group.key} aria-label={group.label}>
            <h2 className="group-head" title={group.title}>
              <bdi>{group.label}</bdi>
            </h2>
            {group.rows.map((row) => (
              <SessionRow
                key={row.session_id}
                row={row}
                current={row.session_id === current}
                unread={row.session_id !== current && row.last_sequence > (read[row.session_id] ?? 0)}
                now={now}
              />
            ))}
          </section>
        ))}
        {loaded && shown.length === 0 && <p className="empty">{rows.length === 0 ? "No sessions yet." : "None matches."}</p>}
        <SearchHits words={search} now={now} />
      </div>
    </>
  );
}

/** All that waits for an answer, from anywhere. */
function WaitingButton() {
  const requests = useSignal(sessions.changed, sessions.requests);
  const [open, setOpen] = useState(false);
  const [asked, setAsked] = useState(false);
  if (requests.length === 0) return null;
  const mayAsk = "Notification" in window && Notification.permission === "default" && !asked;
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger className="waiting-button">
        <Icon name="bell" size={14} />
        {requests.length} waiting for you
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner sideOffset={6} align="start">
          <Popover.Popup className="popup waiting-list" aria-label="Waiting for you">
            {requests.map((each) => (
              <a
                key={each.kind === "permission" ? each.data.permission_id : each.data.question_id}
                href={hrefOf({ page: "session", id: each.session_id })}
                onClick={() => setOpen(false)}
              >
                <Icon name={each.kind === "permission" ? "shield" : "question"} size={14} />
                <span>
                  <strong>
                    <Visible text={each.kind === "permission" ? each.data.action : each.data.prompt} />
                  </strong>
                  <span className="dim">{sessionName(each.session_id)}</span>
                </span>
              </a>
            ))}
            {mayAsk && (
              <Button look="quiet" icon="bell" onClick={() => void Notification.requestPermission().then(() => setAsked(true))}>
                Notify me in this browser
              </Button>
            )}
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

const sessionName = (id: string): string => {
  const row = sessions.get(id);
  return row ? titleOf(row) : id;
};

function useMinute(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 30_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
