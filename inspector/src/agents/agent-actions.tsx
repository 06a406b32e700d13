/** What can be done about an agent: install or update it, sign in, verify it, begin a session with it. */
import { lazy, Suspense, useState } from "react";
import type { AgentInfo } from "../../../src/schema/session.ts";
import { readAgents } from "../state/agents.ts";
import { access, canOperate, daemon, problemText } from "../state/daemon.ts";
import { useStore } from "../state/store.ts";
import { Button, Notice, Spinner } from "../ui/controls.tsx";

const AgentTerminal = lazy(() => import("./agent-terminal.tsx").then((module) => ({ default: module.AgentTerminal })));

/** How each program is asked to sign a person in. What is not listed has no sign-in of its own: its advice says which key it needs. */
const SIGN_IN: Record<string, readonly string[]> = {
  claude: ["auth", "login"],
  codex: ["login"],
  opencode: ["auth", "login"],
  amp: ["login"],
  copilot: ["login"],
};

/** Otherwise it needs a key or an endpoint, which its advice names. */
export const hasSignIn = ({ agent }: AgentInfo): boolean => agent in SIGN_IN;

/** Nobody is signed in, or this is unknown and the agent gives advice. */
export const mayNeedSignIn = ({ installed, signed_in, advice }: AgentInfo): boolean =>
  installed && (signed_in === false || (signed_in === null && advice !== null));

/** Installs it, or its newest version; `progress` is the last line of the installer. */
export function InstallButton({ info, label }: { info: AgentInfo; label: string }) {
  const operate = canOperate(useStore(access));
  const [state, setState] = useState<{ doing: string } | { fault: string } | null>(null);
  const install = async (): Promise<void> => {
    setState({ doing: "Installing" });
    try {
      await daemon.installAgent(info.agent, ({ message }) => setState({ doing: message }));
      await readAgents();
      setState(null);
    } catch (error) {
      setState({ fault: problemText(error) });
    }
  };
  if (state && "doing" in state)
    return (
      <span className="dim doing">
        <Spinner label="installing" /> {state.doing}
      </span>
    );
  return (
    <>
      {state && <Notice kind="error">{state.fault}</Notice>}
      <Button className="small" icon="download" disabled={!operate} onClick={() => void install()}>
        {label}
      </Button>
    </>
  );
}

export function SignInButton({ info }: { info: AgentInfo }) {
  const operate = canOperate(useStore(access));
  const [open, setOpen] = useState(false);
  const words = SIGN_IN[info.agent];
  if (!info.path || !words || !mayNeedSignIn(info)) return null;
  return (
    <>
      <Button className="small" icon="key" disabled={!operate} onClick={() => setOpen(true)}>
        Sign in
      </Button>
      {open && (
        <Suspense>
          <AgentTerminal
            title={`Sign in to ${info.name}`}
            about="The agent's own sign-in, on the daemon's machine. Close this when it is done."
            argv={[info.path, ...words]}
            onClose={() => {
              setOpen(false);
              void readAgents();
            }}
          />
        </Suspense>
      )}
    </>
  );
}

export function VerifyButton({ info }: { info: AgentInfo }) {
  const operate = canOperate(useStore(access));
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button className="small" icon="shield" disabled={!operate} onClick={() => setOpen(true)}>
        Verify
      </Button>
      {open && (
        <Suspense>
          <AgentTerminal
            title={`Verify ${info.name}`}
            about="Runs every scenario with the real program and a scripted model. It costs nothing and takes a few minutes."
            argv={["dragoman", "verify", info.agent]}
            onClose={() => {
              setOpen(false);
              void readAgents();
            }}
          />
        </Suspense>
      )}
    </>
  );
}
