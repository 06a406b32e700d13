/** What each agent can do, side by side: one row a capability, one column an agent. */
import type { AgentInfo } from "../../../src/schema/session.ts";
import { permissionModes } from "../start/new-session-form.ts";
import { AgentIcon } from "../ui/agent-icon.tsx";
import { Icon } from "../ui/icons.tsx";
import { scrollable } from "../ui/scrollable.ts";

/** Names that say too little by themselves. */
const LABELS: Record<string, string> = {
  deltas: "Streams its text",
  edit_input: "Edit a call before allowing it",
  "live agent_mode": "Change the mode later",
  "live model": "Change the model later",
  "live permission_mode": "Change the permissions later",
  "live variant": "Change the variant later",
  mcp_servers: "MCP servers",
  "settings agent_mode": "Choose a mode",
  "settings model": "Choose a model",
  "settings variant": "Choose a variant",
  steer: "Steer a running turn",
  subagents: "Sub-agents",
};

const named = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll("_", " ")}`;

export function CapabilityMatrix({ agents }: { agents: readonly AgentInfo[] }) {
  const columns = agents.map((info) => ({ info, can: flat(info.capabilities) }));
  const label = (name: string): string => LABELS[name] ?? named(name);
  const names = [...new Set(columns.flatMap(({ can }) => [...can.keys()]))].sort((a, b) => label(a).localeCompare(label(b)));
  return (
    <div className="matrix-scroll" {...scrollable}>
      <table className="matrix" aria-label="Capabilities">
        <thead>
          <tr>
            <td />
            {columns.map(({ info }) => (
              <th key={info.agent} scope="col" className={info.installed ? "" : "missing"}>
                <AgentIcon agent={info.agent} />
                <span>{info.name}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {names.map((name) => (
            <tr key={name}>
              <th scope="row">{label(name)}</th>
              {columns.map(({ info, can }) => (
                <td key={info.agent}>
                  <Cell value={can.get(name)} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Cell({ value }: { value: unknown }) {
  if (value === undefined || value === false || (Array.isArray(value) && value.length === 0))
    return (
      <span className="no">
        –<span className="sr">not supported</span>
      </span>
    );
  if (value === true)
    return (
      <span className="mark good">
        <Icon name="check" size={14} />
        <span className="sr">supported</span>
      </span>
    );
  return <span className="matrix-words">{Array.isArray(value) ? value.map(modeName).join(", ") : String(value)}</span>;
}

/** Modes of permission are called here as they are where one is chosen. */
const modeName = (value: unknown): string => permissionModes.find(({ id }) => id === value)?.name ?? String(value);

function flat(values: Record<string, unknown>): Map<string, unknown> {
  const found = new Map<string, unknown>();
  for (const [name, value] of Object.entries(values)) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) found.set(name, value);
    else for (const [inner, each] of Object.entries(value)) found.set(`${name} ${inner}`, each);
  }
  return found;
}
