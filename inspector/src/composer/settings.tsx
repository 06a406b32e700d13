// Model, variant, mode and permission mode of a living session, changed in place.
import type { ReactNode } from "react";
import { useState } from "react";
import type { ConfigChanged, PermissionMode } from "../../../src/schema/event-data.ts";
import type { Session, UpdateSession } from "../../../src/schema/session.ts";
import { permissionModes, useOffer } from "../sessions/new-session.tsx";
import { agentOf, agents } from "../state/agents.ts";
import { daemon, problemText } from "../state/daemon.ts";
import { sessions } from "../state/sessions.ts";
import { useStore } from "../state/store.ts";

type Option = { value: string; label: string };

export function Settings({ row, config, onFault }: { row: Session; config: ConfigChanged; onFault(text: string): void }) {
  const offer = useOffer(row.agent);
  const info = agentOf(useStore(agents), row.agent);
  const [busy, setBusy] = useState(false);
  const change = async (patch: UpdateSession): Promise<void> => {
    setBusy(true);
    try {
      sessions.accept(await daemon.session(row.session_id).update(patch));
    } catch (error) {
      onFault(problemText(error));
    } finally {
      setBusy(false);
    }
  };
  const models = config.models ?? offer?.models ?? [];
  const modes = config.modes ?? offer?.modes ?? [];
  const variants =
    models.find((each) => each.id === row.model)?.variants ?? offer?.models.find((each) => each.id === row.model)?.variants ?? [];
  const offered = info?.capabilities.permission_modes;
  const permissions = permissionModes.filter((mode) => !Array.isArray(offered) || offered.includes(mode.id));
  const fixed = busy || row.status === "ended";
  return (
    <div className="settings">
      <Choice
        label="Model"
        value={row.model}
        disabled={fixed}
        options={models.map((each) => ({ value: each.id, label: each.name ?? each.id }))}
        onChange={(model) => void change({ model })}
      />
      {variants.length > 0 && (
        <Choice
          label="Variant"
          value={row.variant}
          disabled={fixed}
          options={variants.map((value) => ({ value, label: value }))}
          onChange={(variant) => void change({ variant })}
        />
      )}
      <Choice
        label="Mode"
        value={row.agent_mode}
        disabled={fixed}
        options={modes.map((each) => ({ value: each.id, label: each.name ?? each.id }))}
        onChange={(agent_mode) => void change({ agent_mode })}
      />
      <Choice
        label="Permissions"
        value={row.permission_mode}
        disabled={fixed}
        options={permissions.map((mode) => ({ value: mode.id, label: mode.name }))}
        onChange={(mode) => void change({ permission_mode: mode as PermissionMode })}
      />
    </div>
  );
}

type ChoiceProps = { label: string; value: string | null; options: Option[]; disabled: boolean; onChange(value: string): void };

function Choice({ label, value, options, disabled, onChange }: ChoiceProps): ReactNode {
  if (options.length === 0 && value === null) return null;
  const known = options.some((option) => option.value === value);
  return (
    <select
      className="choice-select"
      aria-label={label}
      title={label}
      disabled={disabled}
      value={value ?? ""}
      onChange={(event) => onChange(event.target.value)}
    >
      {!known && <option value={value ?? ""}>{value ?? `${label}: default`}</option>}
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  );
}
