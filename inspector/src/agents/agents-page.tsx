/** Every agent the daemon knows: is it here, signed in, which version, and as a matrix what each can do; with what can be done about it. */
import { useState } from "react";
import type { AgentInfo } from "../../../src/schema/session.ts";
import { isReady } from "../start/new-session-form.ts";
import { agents, readAgents } from "../state/agents.ts";
import { prefer } from "../state/preferences.ts";
import { go } from "../state/route.ts";
import { useStore } from "../state/store.ts";
import { AgentIcon } from "../ui/agent-icon.tsx";
import { Button, IconButton, Notice, Spinner } from "../ui/controls.tsx";
import { withCode } from "../ui/format-code.tsx";
import { PageHead } from "../ui/page-head.tsx";
import { scrollable } from "../ui/scrollable.ts";
import { hasSignIn, InstallButton, SignInButton, VerifyButton } from "./agent-actions.tsx";
import { CapabilityMatrix } from "./capability-matrix.tsx";
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
      <PageHead title="Agents" about="On the daemon's machine">
        {busy ? <Spinner label="looking" /> : <IconButton icon="refresh" label="Refresh" onClick={refresh} />}
      </PageHead>
      <section className="agents" aria-label="Agents" {...scrollable}>
        {known.state === "unknown" && <Spinner label="looking" />}
        {known.state === "failed" && <Notice kind="error">{known.detail}</Notice>}
        {known.state === "known" && (
          <>
            <AgentList agents={known.agents.filter(({ installed }) => installed).toSorted(readyFirst)} look={look} />
            <h2>Not installed</h2>
            <AgentList agents={known.agents.filter(({ installed }) => !installed)} look={look} />
            <p className="dim agents-note">
              An agent you already have is found on the daemon's PATH. Elsewhere:{" "}
              <code>dragoman config set agents.&lt;id&gt;.command</code>
            </p>
            <h2>What each agent supports</h2>
            <CapabilityMatrix agents={known.agents} />
          </>
        )}
      </section>
    </main>
  );
}

const readyFirst = (a: AgentInfo, b: AgentInfo): number => Number(isReady(b)) - Number(isReady(a));

const AgentList = ({ agents, look }: { agents: readonly AgentInfo[]; look: number }) => (
  <div className="agent-list">
    {agents.map((info) => (
      <AgentCard key={info.agent} info={info} look={look} />
    ))}
  </div>
);

function AgentCard({ info, look }: { info: AgentInfo; look: number }) {
  const begin = (): void => {
    prefer({ agent: info.agent });
    go({ page: "home" });
  };
  return (
    <article className={`agent-line ${info.installed ? "" : "absent"}`} aria-label={info.name}>
      <AgentIcon agent={info.agent} size={28} />
      <div className="agent-about">
        <div className="agent-name">
          <h3>{info.name}</h3>
          <State info={info} />
        </div>
        {(info.version || info.path) && (
          <p className="dim">
            {info.version && <span>{info.version}</span>}
            {info.path && <code className="agent-path">{info.path}</code>}
          </p>
        )}
        {info.advice && !(info.installable && !info.installed) && <p className="dim">{withCode(info.advice)}</p>}
        {info.installed && <VerifyResult info={info} look={look} />}
      </div>
      <div className="agent-does">
        {isReady(info) && (
          <Button className="small" look="primary" icon="plus" onClick={begin}>
            New session
          </Button>
        )}
        <SignInButton info={info} />
        {info.installable && <InstallButton info={info} label={info.installed ? "Update" : "Install"} />}
        {info.installed && <VerifyButton info={info} />}
      </div>
    </article>
  );
}

function State({ info }: { info: AgentInfo }) {
  if (!info.installed) return null;
  if (info.signed_in === false) return <span className="tag warn">{hasSignIn(info) ? "not signed in" : "not set up"}</span>;
  return <span className="tag good">{info.signed_in ? "signed in" : "ready"}</span>;
}
