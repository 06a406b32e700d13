// Every agent the daemon knows: is it here, which version, signed in, what it can do, and what to do if not.
import { useState } from "react";
import type { AgentInfo } from "../../../src/schema/session.ts";
import { AgentAdvice } from "../sessions/new-session.tsx";
import { SidebarToggle } from "../sessions/sidebar-toggle.tsx";
import { agents, readAgents } from "../state/agents.ts";
import { access, canOperate, daemon, problemText } from "../state/daemon.ts";
import { useStore } from "../state/store.ts";
import { Button, IconButton, Notice, Spinner } from "../ui/controls.tsx";
import { scrollable } from "../ui/scrollable.ts";
import { VerifyResult } from "./verify-result.tsx";

export default function AgentsPage() {
  const known = useStore(agents);
  const [busy, setBusy] = useState(false);
  const [look, setLook] = useState(0);
  const refresh = (): void => {
    setBusy(true);
    setLook((count) => count + 1);
    void readAgents().finally(() => setBusy(false));
  };
  return (
    <main className="page">
      <header className="session-head">
        <SidebarToggle />
        <div className="session-name">
          <h1>Agents</h1>
          <div className="session-facts dim">What the daemon found on its machine</div>
        </div>
        {busy ? <Spinner label="looking" /> : <IconButton icon="refresh" label="Look again" onClick={refresh} />}
      </header>
      <section className="agents" aria-label="Agents" {...scrollable}>
        {known.state === "unknown" && <Spinner label="looking" />}
        {known.state === "failed" && <Notice kind="error">{known.detail}</Notice>}
        {known.state === "known" && (
          <div className="agent-columns">
            {known.agents.map((info) => (
              <AgentCard key={info.agent} info={info} look={look} />
            ))}
          </div>
        )}
      </section>
    </main>
  );
}

function AgentCard({ info, look }: { info: AgentInfo; look: number }) {
  return (
    <article className="agent-card" aria-label={info.name}>
      <header>
        <h2>{info.name}</h2>
        <code className="dim">{info.agent}</code>
        <span className="grow" />
        {info.installed ? (
          <span className="tag good">{info.version ?? "installed"}</span>
        ) : (
          <span className="tag">not installed</span>
        )}
        {info.installed && info.signed_in !== null && (
          <span className={`tag ${info.signed_in ? "good" : "warn"}`}>{info.signed_in ? "signed in" : "not signed in"}</span>
        )}
      </header>
      {info.path && <code className="agent-path">{info.path}</code>}
      <AgentAdvice info={info} />
      <Capabilities values={info.capabilities} />
      <footer>
        {!info.installed && info.installable && <Install agent={info.agent} />}
        {info.installed && <VerifyResult info={info} look={look} />}
      </footer>
    </article>
  );
}

function Capabilities({ values }: { values: Record<string, unknown> }) {
  const flat = Object.entries(values).flatMap(([name, value]): [string, unknown][] =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.entries(value).map(([inner, each]) => [`${name} ${inner}`, each])
      : [[name, value]],
  );
  return (
    <ul className="capabilities" aria-label="Capabilities">
      {flat.map(([name, value]) => (
        <li key={name} className={value === false || (Array.isArray(value) && value.length === 0) ? "no" : "yes"}>
          {name.replaceAll("_", " ")}
          {Array.isArray(value) && value.length > 0 && `: ${value.join(", ")}`}
          {typeof value === "string" && `: ${value}`}
          <span className="sr">{value === false ? " not supported" : ""}</span>
        </li>
      ))}
    </ul>
  );
}

function Install({ agent }: { agent: string }) {
  const operate = canOperate(useStore(access));
  const [state, setState] = useState<{ doing: string } | { fault: string } | null>(null);
  const install = async (): Promise<void> => {
    setState({ doing: "Installing" });
    try {
      await daemon.installAgent(agent, ({ message }) => setState({ doing: message }));
      await readAgents();
    } catch (error) {
      setState({ fault: problemText(error) });
    }
  };
  if (state && "doing" in state)
    return (
      <span className="dim">
        <Spinner label="installing" /> {state.doing}
      </span>
    );
  return (
    <>
      {state && <Notice kind="error">{state.fault}</Notice>}
      <Button icon="download" disabled={!operate} onClick={() => void install()}>
        Install
      </Button>
    </>
  );
}
