/** What this browser remembers for a person, and where they stand: theme, defaults of new sessions, notifications, version, sign out. */
import { type ReactNode, useEffect, useState } from "react";
import type { Health } from "../../../src/client/dragoman.ts";
import { agents, readAgents } from "../state/agents.ts";
import { access, daemon } from "../state/daemon.ts";
import { forgetToken } from "../state/page-token.ts";
import { prefer, preferences, type Theme } from "../state/preferences.ts";
import { useStore } from "../state/store.ts";
import { AgentIcon } from "../ui/agent-icon.tsx";
import { Choice } from "../ui/choice.tsx";
import { Button } from "../ui/controls.tsx";
import { PageHead } from "../ui/page-head.tsx";
import { scrollable } from "../ui/scrollable.ts";

const THEMES: { value: Theme; label: string }[] = [
  { value: "system", label: "System" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
];

export default function SettingsPage({ onHelp }: { onHelp(): void }) {
  const { theme, agent, directory, notifications } = useStore(preferences);
  const known = useStore(agents);
  const who = useStore(access);
  const [health, setHealth] = useState<Health | null>(null);
  useEffect(() => {
    void readAgents();
    daemon.health().then(setHealth, () => {});
  }, []);
  const identity = who.state === "known" ? who.identity : null;
  const signOut = async (): Promise<void> => {
    await daemon.signOut().catch(() => {});
    forgetToken();
    location.reload();
  };
  return (
    <main className="page">
      <PageHead title="Settings" about="Stored in this browser" />
      <div className="settings-page" {...scrollable}>
        <Group title="Appearance">
          <Line label="Theme">
            <Choice label="Theme" value={theme} options={THEMES} onChange={(value) => prefer({ theme: value as Theme })} />
          </Line>
        </Group>
        <Group title="New sessions">
          <Line label="Agent" hint="Preselected for new sessions.">
            <Choice
              label="Default agent"
              value={agent || null}
              otherwise="Last used"
              options={[
                { value: "", label: "Last used" },
                ...(known.state === "known" ? known.agents : [])
                  .filter((each) => each.installed)
                  .map((each) => ({ value: each.agent, label: each.name, icon: <AgentIcon agent={each.agent} size={16} /> })),
              ]}
              onChange={(value) => prefer({ agent: value })}
            />
          </Line>
          <Line label="Directory" hint="On the daemon's machine. Empty: the last used one.">
            <input
              aria-label="Default directory"
              placeholder="/path/to/project"
              defaultValue={directory}
              onBlur={(event) => prefer({ directory: event.target.value.trim() })}
            />
          </Line>
        </Group>
        <Group title="Notifications">
          <Notifications on={notifications} />
        </Group>
        <Group title="This daemon">
          <Line label="Version">{health?.version ?? "unknown"}</Line>
          <Line label="Address">
            <code>{location.origin}</code>
          </Line>
          {identity && (
            <Line label="Role" hint="What this page is allowed to do.">
              {identity.role}
              {identity.label ? ` · ${identity.label}` : ""}
            </Line>
          )}
          <div className="settings-links">
            <a className="button small" href="/docs" target="_blank" rel="noopener">
              Documentation
            </a>
            <a className="button small" href="/docs/api" target="_blank" rel="noopener">
              API
            </a>
            <Button className="small" onClick={onHelp}>
              Keyboard shortcuts
            </Button>
            <Button className="small" look="danger" icon="signOut" onClick={() => void signOut()}>
              Sign out
            </Button>
          </div>
        </Group>
      </div>
    </main>
  );
}

const Group = ({ title, children }: { title: string; children: ReactNode }) => (
  <section className="settings-group" aria-label={title}>
    <h2>{title}</h2>
    <div>{children}</div>
  </section>
);

const Line = ({ label, hint, children }: { label: string; hint?: string; children: ReactNode }) => (
  <div className="settings-line">
    <span>
      {label}
      {hint && <span className="hint">{hint}</span>}
    </span>
    <div>{children}</div>
  </div>
);

/** The browser asks once; this page may be quiet all the same. */
function Notifications({ on }: { on: boolean }) {
  const [state, setState] = useState(() => ("Notification" in window ? Notification.permission : "missing"));
  if (state === "missing") return <Line label="This browser has no notifications">–</Line>;
  return (
    <Line
      label="Notify me when a session waits for an answer"
      hint={
        state === "denied"
          ? "Notifications are blocked. Allow them in the browser's settings for this page."
          : "Only while another window has the focus."
      }
    >
      <input
        type="checkbox"
        className="switch"
        aria-label="Notify me when a session waits for an answer"
        checked={on && state === "granted"}
        disabled={state === "denied"}
        onChange={(event) => {
          prefer({ notifications: event.target.checked });
          if (event.target.checked && state === "default") void Notification.requestPermission().then(setState);
        }}
      />
    </Line>
  );
}
