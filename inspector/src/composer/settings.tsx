/** Model, variant, mode and permission mode of a living session, changed in place. */
import { useState } from "react";
import type { ConfigChanged, PermissionMode } from "../../../src/schema/event-data.ts";
import type { Session, UpdateSession } from "../../../src/schema/session.ts";
import { offeredModes } from "../start/new-session-form.ts";
import { agentOf, agents } from "../state/agents.ts";
import { daemon, problemText } from "../state/daemon.ts";
import { useOffer } from "../state/offer.ts";
import { sessions } from "../state/sessions.ts";
import { useStore } from "../state/store.ts";
import { Choice } from "../ui/choice.tsx";

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
  const permissions = offeredModes(info);
  const fixed = busy || row.status === "ended";
  return (
    <div className="settings">
      <Choice
        label="Model"
        icon="cpu"
        otherwise="Default model"
        value={row.model}
        disabled={fixed}
        options={models.map((each) => ({ value: each.id, label: each.name ?? each.id }))}
        onChange={(model) => void change({ model })}
      />
      {variants.length > 0 && (
        <Choice
          label="Variant"
          icon="brain"
          otherwise="Default"
          value={row.variant}
          disabled={fixed}
          options={variants.map((value) => ({ value, label: value }))}
          onChange={(variant) => void change({ variant })}
        />
      )}
      <Choice
        label="Mode"
        icon="options"
        otherwise="Default mode"
        value={row.agent_mode}
        disabled={fixed}
        options={modes.map((each) => ({ value: each.id, label: each.name ?? each.id }))}
        onChange={(agent_mode) => void change({ agent_mode })}
      />
      <Choice
        label="Permissions"
        icon="shield"
        value={row.permission_mode}
        disabled={fixed}
        options={permissions.map((mode) => ({ value: mode.id, label: mode.name, hint: mode.about }))}
        onChange={(mode) => void change({ permission_mode: mode as PermissionMode })}
      />
    </div>
  );
}
