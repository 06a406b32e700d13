// The dialog that makes a session: only what every agent understands, and for each agent what it says it offers.
import { type FormEvent, useEffect, useState } from "react";
import type { PermissionMode } from "../../../src/schema/event-data.ts";
import type { AgentInfo, CreateSession } from "../../../src/schema/session.ts";
import { agentOf, agents, can, type Offer, offerOf, readAgents } from "../state/agents.ts";
import { asCurl, daemon, problemText } from "../state/daemon.ts";
import { go } from "../state/route.ts";
import { sessions } from "../state/sessions.ts";
import { useStore } from "../state/store.ts";
import { Button, CopyButton, Field, Notice, Spinner } from "../ui/controls.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { withCode } from "../ui/format-code.tsx";
import { Icon } from "../ui/icons.tsx";
import { parseEnvironment, parseServers } from "./session-form.ts";

export const permissionModes: { id: PermissionMode; name: string; about: string }[] = [
  { id: "default", name: "Ask", about: "asks before it acts" },
  { id: "plan", name: "Plan only", about: "reads and plans, changes nothing" },
  { id: "accept_edits", name: "Accept edits", about: "edits files without asking" },
  { id: "bypass", name: "Allow all", about: "never asks" },
];

type Form = {
  agent: string;
  directory: string;
  title: string;
  model: string;
  variant: string;
  mode: string;
  permission: PermissionMode;
  environment: string;
  servers: string;
  system: string;
  resume: string;
};
const empty: Form = {
  agent: "",
  directory: "",
  title: "",
  model: "",
  variant: "",
  mode: "",
  permission: "default",
  environment: "",
  servers: "",
  system: "",
  resume: "",
};

function requestOf(form: Form): CreateSession {
  const environment = parseEnvironment(form.environment);
  const servers = parseServers(form.servers);
  return {
    agent: form.agent,
    permission_mode: form.permission,
    ...(form.directory ? { directory: form.directory } : {}),
    ...(form.title ? { title: form.title } : {}),
    ...(form.model ? { model: form.model } : {}),
    ...(form.variant ? { variant: form.variant } : {}),
    ...(form.mode ? { agent_mode: form.mode } : {}),
    ...(Object.keys(environment).length > 0 ? { env: environment } : {}),
    ...(servers.length > 0 ? { mcp_servers: servers } : {}),
    ...(form.system ? { system_prompt: form.system } : {}),
    ...(form.resume ? { resume_native: form.resume } : {}),
  };
}

export function NewSession({ open, onClose }: { open: boolean; onClose(): void }) {
  return (
    <Dialog open={open} onClose={onClose} title="New session" wide>
      <NewSessionForm onClose={onClose} />
    </Dialog>
  );
}

function NewSessionForm({ onClose }: { onClose(): void }) {
  const known = useStore(agents);
  const [form, setForm] = useState<Form>({ ...empty, directory: sessions.list()[0]?.directory ?? "" });
  const [fault, setFault] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const info = agentOf(known, form.agent);
  const offer = useOffer(form.agent);
  const change = (patch: Partial<Form>): void => setForm((value) => ({ ...value, ...patch }));
  useEffect(() => void readAgents(), []);
  useEffect(() => {
    if (known.state !== "known" || form.agent) return;
    const ready =
      known.agents.find((each) => each.installed && each.signed_in !== false) ?? known.agents.find((each) => each.installed);
    if (ready) setForm((value) => ({ ...value, agent: ready.agent }));
  }, [known, form.agent]);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setFault(null);
    try {
      const handle = await daemon.createSession(requestOf(form));
      sessions.accept(await handle.get());
      onClose();
      go({ page: "session", id: handle.id });
    } catch (error) {
      setFault(problemText(error));
    } finally {
      setBusy(false);
    }
  };
  const variants = offer?.models.find((each) => each.id === form.model)?.variants ?? [];
  return (
    <form className="new-session" onSubmit={(event) => void submit(event)}>
      <div className="dialog-body">
        <AgentChoice value={form.agent} onChange={(agent) => change({ agent, model: "", variant: "", mode: "" })} />
        {info && <AgentAdvice info={info} />}
        <Field label="Directory" hint="On the daemon's machine; left empty, the one the daemon was started in.">
          <input
            value={form.directory}
            onChange={(event) => change({ directory: event.target.value })}
            placeholder="/path/to/project"
          />
        </Field>
        <div className="columns">
          <Field label="Model">
            <input
              list="models-offered"
              value={form.model}
              placeholder={offer?.models.find((each) => each.is_default)?.id ?? "the agent's default"}
              onChange={(event) => change({ model: event.target.value, variant: "" })}
            />
            <datalist id="models-offered">
              {offer?.models.map((each) => (
                <option key={each.id} value={each.id}>
                  {each.name ?? each.id}
                </option>
              ))}
            </datalist>
          </Field>
          {variants.length > 0 && (
            <Field label="Variant">
              <select value={form.variant} onChange={(event) => change({ variant: event.target.value })}>
                <option value="">default</option>
                {variants.map((each) => (
                  <option key={each}>{each}</option>
                ))}
              </select>
            </Field>
          )}
          {(offer?.modes.length ?? 0) > 0 && (
            <Field label="Mode">
              <select value={form.mode} onChange={(event) => change({ mode: event.target.value })}>
                <option value="">default</option>
                {offer?.modes.map((each) => (
                  <option key={each.id} value={each.id}>
                    {each.name ?? each.id}
                  </option>
                ))}
              </select>
            </Field>
          )}
          <Field label="Permissions" hint={permissionModes.find((mode) => mode.id === form.permission)?.about}>
            <select value={form.permission} onChange={(event) => change({ permission: event.target.value as PermissionMode })}>
              {permissionModes
                .filter((mode) => offersPermissionMode(info, mode.id))
                .map((mode) => (
                  <option key={mode.id} value={mode.id}>
                    {mode.name}
                  </option>
                ))}
            </select>
          </Field>
        </div>
        <Field label="Title">
          <input
            value={form.title}
            onChange={(event) => change({ title: event.target.value })}
            placeholder="optional"
            maxLength={500}
          />
        </Field>
        <details className="more">
          <summary>MCP servers, environment, system prompt, resume</summary>
          <Field
            label="MCP servers"
            hint={
              can(info, "mcp_servers")
                ? 'One a line: "name command args…" or "name https://…"; or a JSON array.'
                : "This agent takes none from outside."
            }
          >
            <textarea
              rows={3}
              value={form.servers}
              disabled={!can(info, "mcp_servers")}
              onChange={(event) => change({ servers: event.target.value })}
              placeholder="files npx -y @modelcontextprotocol/server-filesystem ."
            />
          </Field>
          <Field label="Environment" hint="One NAME=value a line; given to the agent's process only.">
            <textarea rows={3} value={form.environment} onChange={(event) => change({ environment: event.target.value })} />
          </Field>
          {can(info, "system_prompt") && (
            <Field label="System prompt">
              <textarea rows={3} value={form.system} onChange={(event) => change({ system: event.target.value })} />
            </Field>
          )}
          {can(info, "resume") && (
            <Field label="Resume" hint="The agent's own id of a conversation it had before, to go on with it here.">
              <input value={form.resume} onChange={(event) => change({ resume: event.target.value })} />
            </Field>
          )}
        </details>
        {fault && <Notice kind="error">{fault}</Notice>}
      </div>
      <div className="dialog-foot">
        <CopyButton
          label="Copy as curl"
          text={() => asCurl({ method: "POST", path: "/v1/sessions", body: JSON.stringify(requestOf(form)) })}
        />
        <span className="grow" />
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" type="submit" disabled={busy || form.agent === ""}>
          {busy ? <Spinner label="creating" /> : "Create session"}
        </Button>
      </div>
    </form>
  );
}

const offersPermissionMode = (info: AgentInfo | undefined, mode: PermissionMode): boolean => {
  const offered = info?.capabilities.permission_modes;
  return !Array.isArray(offered) || offered.includes(mode);
};

function AgentChoice({ value, onChange }: { value: string; onChange(agent: string): void }) {
  const known = useStore(agents);
  if (known.state === "failed") return <Notice kind="error">{known.detail}</Notice>;
  if (known.state === "unknown")
    return (
      <p className="dim">
        <Spinner label="looking" /> Looking for agents on this machine
      </p>
    );
  return (
    <fieldset className="agent-choice">
      <legend>Agent</legend>
      {known.agents.map((each) => (
        <label key={each.agent} className={`agent-option ${each.installed ? "" : "missing"}`}>
          <input
            type="radio"
            name="agent"
            value={each.agent}
            checked={value === each.agent}
            onChange={() => onChange(each.agent)}
          />
          <span>{each.name}</span>
          <AgentState info={each} />
        </label>
      ))}
    </fieldset>
  );
}

export function AgentState({ info }: { info: AgentInfo }) {
  if (!info.installed) return <span className="agent-state">not installed</span>;
  if (info.signed_in === false) return <span className="agent-state warn">not signed in</span>;
  return (
    <span className="agent-state good">
      <Icon name="check" size={12} />
      {info.version ?? "ready"}
    </span>
  );
}

export function AgentAdvice({ info }: { info: AgentInfo }) {
  if (info.installed && info.signed_in !== false && !info.advice) return null;
  const advice =
    info.advice ??
    (info.installed ? "Sign in with the agent's own login, or pass its key in the environment." : "Install it first.");
  return <Notice kind={info.installed ? "info" : "warning"}>{withCode(advice)}</Notice>;
}

export function useOffer(agent: string): Offer | null {
  const [offer, setOffer] = useState<{ agent: string; offer: Offer } | null>(null);
  useEffect(() => {
    if (!agent) return;
    let gone = false;
    void offerOf(agent).then((found) => !gone && setOffer({ agent, offer: found }));
    return () => {
      gone = true;
    };
  }, [agent]);
  return offer?.agent === agent ? offer.offer : null;
}
