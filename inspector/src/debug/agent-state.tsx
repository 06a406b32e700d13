// What the agent last reported about itself: settings, usage limits, MCP servers, tools, team.
import { type ReactNode, useState } from "react";
import type { UniversalEvent } from "../../../src/schema/event.ts";
import type { ConfigChanged, EventDataOf } from "../../../src/schema/event-data.ts";
import type { DirectorySettings, Session } from "../../../src/schema/session.ts";
import { DirectoryFiles } from "../requests/trust-details.tsx";
import { permissionModes } from "../start/new-session-form.ts";
import { daemon, eventPage, problemText } from "../state/daemon.ts";
import { Notice, Spinner } from "../ui/controls.tsx";
import { count, money } from "../ui/format.ts";
import { useCalm } from "./coverage.tsx";

const REFRESH_MS = 1_500;
const PAGE = 200;

type State = {
  config: ConfigChanged;
  limits: EventDataOf["limits.updated"]["windows"];
  members: EventDataOf["team.state_changed"]["members"];
};

/** Later events replace what earlier ones said, window by window. */
export function stateOf(events: Iterable<UniversalEvent>): State {
  const state: State = { config: {}, limits: [], members: [] };
  for (const { type, data } of events) {
    if (type === "config.changed") Object.assign(state.config, data);
    else if (type === "team.state_changed") state.members = data.members;
    else if (type === "limits.updated") {
      const reported = new Set(data.windows.map(({ name }) => name));
      state.limits = [...state.limits.filter(({ name }) => !reported.has(name)), ...data.windows];
    }
  }
  return state;
}

export function AgentState({ row }: { row: Session }) {
  const [state, setState] = useState<State | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const [directory, setDirectory] = useState<DirectorySettings | null>(null);
  useCalm(row.last_sequence, REFRESH_MS, (signal) => {
    const types = ["config.changed", "limits.updated", "team.state_changed"] as const;
    eventPage(row.session_id, { order: "desc", limit: PAGE, types }, signal).then(
      ({ events }) => setState(stateOf(events.reverse())),
      (error: unknown) => !signal.aborted && setFault(problemText(error)),
    );
    daemon
      .session(row.session_id)
      .directorySettings(signal)
      .then(setDirectory, (error: unknown) => !signal.aborted && setFault(problemText(error)));
  });
  if (fault) return <Notice kind="error">{fault}</Notice>;
  if (!state) return <Spinner label="loading" />;
  const { config, limits, members } = state;
  return (
    <div className="panel agent-state-panel">
      <Section title="Settings">
        <Facts
          rows={[
            ["Model", [row.model, row.variant].filter(Boolean).join(" · ") || "the agent's default"],
            ["Mode", row.agent_mode ?? "the agent's default"],
            ["Permissions", permissionModes.find(({ id }) => id === row.permission_mode)?.name ?? row.permission_mode],
            ["Directory", row.trust === "trusted" ? "trusted" : "restricted: its settings are not loaded"],
            ...(config.options ?? []).map((option): [string, string] => [option.name ?? option.id, String(option.value)]),
          ]}
        />
      </Section>
      {directory && directory.files.length > 0 && (
        <Section title="Files of the directory">
          <DirectoryFiles files={directory.files} />
        </Section>
      )}
      <Section title="Usage">
        {row.usage ? <UsageFacts usage={row.usage} /> : <p className="dim">Nothing reported yet.</p>}
      </Section>
      <Section title="Usage limits">
        {limits.length === 0 ? (
          <p className="dim">The agent reported none.</p>
        ) : (
          <ul className="limits">
            {limits.map((window) => (
              <Limit key={window.name} window={window} />
            ))}
          </ul>
        )}
      </Section>
      <Section title="MCP servers">
        {(config.mcp_servers ?? []).length === 0 ? (
          <p className="dim">None.</p>
        ) : (
          <Facts
            rows={(config.mcp_servers ?? []).map(({ name, status, error }) => [
              name,
              <span key={name} className={error ? "bad" : ""}>
                {status}
                {error && `: ${error}`}
              </span>,
            ])}
          />
        )}
      </Section>
      {members.length > 0 && (
        <Section title="Team">
          <Facts rows={members.map(({ name, status, role }) => [name, [status, role].filter(Boolean).join(" · ")])} />
        </Section>
      )}
      {(config.tools ?? []).length > 0 && (
        <Section title={`Tools (${config.tools?.length})`}>
          <p className="tool-list">
            {config.tools?.map((tool) => (
              <code key={tool}>{tool}</code>
            ))}
          </p>
        </Section>
      )}
    </div>
  );
}

const Section = ({ title, children }: { title: string; children: ReactNode }) => (
  <section aria-label={title}>
    <h3>{title}</h3>
    {children}
  </section>
);

const Facts = ({ rows }: { rows: [string, ReactNode][] }) => (
  <table className="facts">
    <tbody>
      {rows.map(([name, value]) => (
        <tr key={name}>
          <th scope="row">{name}</th>
          <td>{value}</td>
        </tr>
      ))}
    </tbody>
  </table>
);

function UsageFacts({ usage }: { usage: NonNullable<Session["usage"]> }) {
  const rows: [string, ReactNode][] = [
    ["Tokens in", count(usage.input_tokens)],
    ["Tokens out", count(usage.output_tokens)],
  ];
  if (usage.cost_usd !== undefined) rows.push(["Cost", money(usage.cost_usd)]);
  if (usage.context_used !== undefined)
    rows.push([
      "Context",
      `${count(usage.context_used)}${usage.context_window ? ` of ${count(usage.context_window)}` : ""} tokens`,
    ]);
  return <Facts rows={rows} />;
}

function Limit({ window }: { window: State["limits"][number] }) {
  const { name, used_percent: used, resets_at, status } = window;
  const label = name.replaceAll("_", " ");
  return (
    <li>
      <div className="limit-line">
        <span>{label}</span>
        <span className="dim">
          {[used === undefined ? null : `${Math.round(used)} % used`, status].filter(Boolean).join(" · ")}
          {resets_at && `, resets ${new Date(resets_at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })}`}
        </span>
      </div>
      {used !== undefined && <meter min={0} max={100} high={80} value={used} aria-label={`${label} used`} />}
    </li>
  );
}
