/** Which agents this machine has, which are signed in, and what to do about the others: one click each. */
import { useState } from "react";
import type { AgentInfo } from "../../../src/schema/session.ts";
import { hasSignIn, InstallButton, mayNeedSignIn, SignInButton } from "../agents/agent-actions.tsx";
import { agents } from "../state/agents.ts";
import { hrefOf } from "../state/route.ts";
import { useStore } from "../state/store.ts";
import { AgentIcon } from "../ui/agent-icon.tsx";
import { Button, Notice, Spinner } from "../ui/controls.tsx";
import { withCode } from "../ui/format-code.tsx";
import { Icon } from "../ui/icons.tsx";
import { isReady } from "./new-session-form.ts";

/** Enough to begin with; the daemon lists the best known first. */
const FIRST_OFFERED = 6;

export function AgentsFound({ first }: { first: boolean }) {
  const known = useStore(agents);
  const [all, setAll] = useState(false);
  if (known.state === "failed") return <Notice kind="error">{known.detail}</Notice>;
  if (known.state === "unknown")
    return (
      <p className="dim agents-looking">
        <Spinner label="looking" /> Looking for agents on this machine
      </p>
    );
  // What comes with dragoman and lacks a key or an endpoint was not found: it is always there. The page of all agents says what it lacks.
  const here = known.agents.filter((each) => each.installed && each.agent !== "mock" && (each.installable || isReady(each)));
  const open = here.filter((each) => !isReady(each));
  const missing = known.agents.filter((each) => !each.installed && each.installable);
  const offer = all ? missing : missing.slice(0, first && here.length === 0 ? FIRST_OFFERED : 0);
  const shown = first ? here : open;
  if (!first && shown.length === 0 && missing.length === 0) return null;
  return (
    <section className="agents-found" aria-label="Agents of this machine">
      {first && (
        <h2>
          {here.length === 0
            ? "No agent was found on this machine"
            : `${here.length} ${here.length === 1 ? "agent" : "agents"} found`}
        </h2>
      )}
      {first && here.length === 0 && (
        <p className="dim">Install one here, or try the built-in mock agent: send it “help” above.</p>
      )}
      <ul>
        {shown.map((each) => (
          <FoundAgent key={each.agent} info={each} />
        ))}
        {offer.map((each) => (
          <FoundAgent key={each.agent} info={each} />
        ))}
      </ul>
      {offer.length < missing.length && (
        <Button look="quiet" icon="plus" onClick={() => setAll(true)}>
          {offer.length > 0 ? "More agents" : "Add an agent"}
        </Button>
      )}
      <a className="dim" href={hrefOf({ page: "agents" })}>
        All agents and what they can do <Icon name="chevron" size={12} />
      </a>
    </section>
  );
}

function FoundAgent({ info }: { info: AgentInfo }) {
  const state = !info.installed
    ? "Not installed"
    : info.signed_in === false
      ? hasSignIn(info)
        ? "Not signed in"
        : "Not set up"
      : "Ready";
  return (
    <li className="found-agent" aria-label={info.name}>
      <AgentIcon agent={info.agent} size={28} />
      <div className="found-name">
        <strong>{info.name}</strong>
        <span className="dim">
          {state}
          {info.version && ` · ${info.version}`}
          {mayNeedSignIn(info) && info.advice && <> · {withCode(info.advice)}</>}
        </span>
      </div>
      {!info.installed && <InstallButton info={info} label="Install" />}
      <SignInButton info={info} />
      {isReady(info) && (
        <span className="mark good">
          <Icon name="check" size={16} />
        </span>
      )}
    </li>
  );
}
