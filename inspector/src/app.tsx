// The whole page: list at the left, what is open in the middle, and what must be told at the top.
import { CSPProvider } from "@base-ui/react/csp-provider";
import { type FormEvent, lazy, Suspense, useEffect, useState } from "react";
import { Help } from "./help.tsx";
import { Palette } from "./palette/palette.tsx";
import { NewSession } from "./sessions/new-session.tsx";
import { SessionPage } from "./sessions/session-page.tsx";
import { titleOf } from "./sessions/session-row.tsx";
import { Sidebar } from "./sessions/sidebar.tsx";
import { leaveSidebar, SidebarBackdrop, SidebarToggle } from "./sessions/sidebar-toggle.tsx";
import { useShortcuts } from "./shortcuts.ts";
import { access, canOperate, problemText } from "./state/daemon.ts";
import { signIn } from "./state/page-token.ts";
import { preferences } from "./state/preferences.ts";
import { type Route, route } from "./state/route.ts";
import { link, sessions } from "./state/sessions.ts";
import { useSignal, useStore } from "./state/store.ts";
import { Button, Spinner } from "./ui/controls.tsx";
import { Icon } from "./ui/icons.tsx";

const SkillsPage = lazy(() => import("./skills/skills-page.tsx"));
const AgentsPage = lazy(() => import("./agents/agents-page.tsx"));

export function App() {
  const here = useStore(route);
  const allowed = useStore(access);
  const { sidebar } = useStore(preferences);
  const [creating, setCreating] = useState(false);
  const [helping, setHelping] = useState(false);
  const [finding, setFinding] = useState(false);
  const operate = canOperate(allowed);
  useTitle(here);
  useEffect(() => {
    if (here.page !== "home") leaveSidebar();
  }, [here]);
  useShortcuts({ onNew: () => operate && setCreating(true), onHelp: () => setHelping(true), onFind: () => setFinding(true) });
  if (allowed.state === "refused") return <Refused detail={allowed.detail} />;
  return (
    <CSPProvider disableStyleElements>
      <LinkBanner />
      <div className={`shell ${sidebar ? "" : "no-sidebar"}`}>
        {sidebar && <SidebarBackdrop />}
        <Sidebar onNew={() => setCreating(true)} onHelp={() => setHelping(true)} />
        {here.page === "session" ? (
          <SessionPage key={here.id} id={here.id} at={here.at ?? null} />
        ) : here.page === "agents" || here.page === "skills" ? (
          <Suspense fallback={<Spinner label="loading" />}>{here.page === "agents" ? <AgentsPage /> : <SkillsPage />}</Suspense>
        ) : (
          <Home onNew={() => setCreating(true)} operate={operate} />
        )}
      </div>
      <NewSession open={creating} onClose={() => setCreating(false)} />
      <Palette
        open={finding}
        onClose={() => setFinding(false)}
        onNew={() => setCreating(true)}
        onHelp={() => setHelping(true)}
        operate={operate}
      />
      <Help open={helping} onClose={() => setHelping(false)} />
    </CSPProvider>
  );
}

const Home = ({ onNew, operate }: { onNew(): void; operate: boolean }) => (
  <main className="page">
    <SidebarToggle />
    <div className="blank">
      <img src="/ui/icon.svg" alt="" width="48" height="48" />
      <h1>Every agent, one place</h1>
      <p className="dim">Open a session on the left{operate ? ", or begin one" : ""}.</p>
      {operate && (
        <Button look="primary" icon="plus" onClick={onNew}>
          New session <kbd>Alt N</kbd>
        </Button>
      )}
      <p className="dim">
        Press <kbd>Alt H</kbd> for all keys.
      </p>
    </div>
  </main>
);

/** Says when the daemon is out of reach, and for a moment when it is back. */
function LinkBanner() {
  const state = useStore(link);
  const [back, setBack] = useState(false);
  const again = state.state === "live" && state.again;
  useEffect(() => {
    setBack(again);
    if (!again) return;
    const timer = setTimeout(() => setBack(false), 4_000);
    return () => clearTimeout(timer);
  }, [again]);
  if (state.state === "reconnecting")
    return (
      <div className="link-banner lost" role="status">
        <Spinner /> The daemon cannot be reached. Trying again (attempt {state.attempt}); nothing is lost.
      </div>
    );
  return back ? (
    <div className="link-banner back" role="status">
      <Icon name="check" size={14} /> Connected again, up to date.
    </div>
  ) : null;
}

function Refused({ detail }: { detail: string }) {
  const [fault, setFault] = useState<string | null>(null);
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    try {
      await signIn(String(new FormData(event.currentTarget).get("token") ?? "").trim());
      location.reload();
    } catch (error) {
      setFault(problemText(error));
    }
  };
  return (
    <main className="page refused">
      <div className="blank">
        <Icon name="shield" size={32} />
        <h1>Not signed in</h1>
        <p>{detail}</p>
        <p>
          Run <code>dragoman open</code> on the daemon's machine and follow the link it prints.
        </p>
        <form className="sign-in" onSubmit={(event) => void submit(event)}>
          <input name="token" type="password" required autoComplete="off" aria-label="Token" placeholder="or paste a token" />
          <Button look="primary" type="submit">
            Sign in
          </Button>
        </form>
        {fault && <p role="alert">{fault}</p>}
      </div>
    </main>
  );
}

function useTitle(here: Route): void {
  const waiting = useSignal(sessions.changed, sessions.requests).length;
  const row = useSignal(sessions.changed, () => (here.page === "session" ? sessions.get(here.id) : undefined));
  const name = row
    ? `${titleOf(row)} · dragoman`
    : here.page === "agents"
      ? "Agents · dragoman"
      : here.page === "skills"
        ? "Skills · dragoman"
        : "dragoman";
  useEffect(() => {
    document.title = waiting > 0 ? `(${waiting}) ${name}` : name;
  }, [waiting, name]);
}
