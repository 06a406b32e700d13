/** The whole page: list at the left, what is open in the middle, and what must be known at the top. */
import { CSPProvider } from "@base-ui/react/csp-provider";
import { type FormEvent, lazy, Suspense, useEffect, useState } from "react";
import { Help } from "./help.tsx";
import { Palette } from "./palette/palette.tsx";
import { titleOf } from "./sessions/session-row.tsx";
import { Sidebar } from "./sessions/sidebar.tsx";
import { leaveSidebar, SidebarBackdrop } from "./sessions/sidebar-toggle.tsx";
import { useShortcuts } from "./shortcuts.ts";
import { StartPage } from "./start/start-page.tsx";
import { access, canOperate, problemText } from "./state/daemon.ts";
import { signIn } from "./state/page-token.ts";
import { preferences } from "./state/preferences.ts";
import { go, type Route, route } from "./state/route.ts";
import { link, sessions } from "./state/sessions.ts";
import { useSignal, useStore } from "./state/store.ts";
import { Button, Spinner } from "./ui/controls.tsx";
import { Icon } from "./ui/icons.tsx";
import { Notes } from "./ui/note.tsx";

const pages = {
  agents: lazy(() => import("./agents/agents-page.tsx")),
  skills: lazy(() => import("./skills/skills-page.tsx")),
  usage: lazy(() => import("./usage/usage-page.tsx")),
  fleet: lazy(() => import("./fleet/fleet-page.tsx")),
  daemons: lazy(() => import("./daemons/daemons-page.tsx")),
  settings: lazy(() => import("./settings/settings-page.tsx")),
};
const openSession = (): Promise<typeof import("./sessions/session-page.tsx")> => import("./sessions/session-page.tsx");
const SessionPage = lazy(() => openSession().then((module) => ({ default: module.SessionPage })));
// Needed soon in any case: at once when one is opened, otherwise when there is time.
if (location.hash.includes("/sessions/")) void openSession();
else requestIdleCallback(() => void openSession(), { timeout: 3_000 });
const ComparePage = lazy(() => import("./compare/compare-page.tsx"));
const ApprovePage = lazy(() => import("./requests/approve-page.tsx"));

export function App() {
  const here = useStore(route);
  const allowed = useStore(access);
  const { sidebar } = useStore(preferences);
  const [helping, setHelping] = useState(false);
  const [finding, setFinding] = useState(false);
  const operate = canOperate(allowed);
  useTitle(here);
  // biome-ignore lint/correctness/useExhaustiveDependencies: whatever is opened, on a narrow screen the list makes room for it.
  useEffect(leaveSidebar, [here]);
  const onNew = (): void => {
    if (!operate) return;
    leaveSidebar();
    if (route.get().page === "home") document.querySelector<HTMLElement>("#composer")?.focus();
    else go({ page: "home" });
  };
  const onFind = (): void => setFinding(true);
  const onHelp = (): void => setHelping(true);
  useShortcuts({ onNew, onHelp, onFind });
  if (allowed.state === "refused") return <Refused detail={allowed.detail} />;
  if (allowed.state === "known" && allowed.identity.role === "approve" && here.page !== "session")
    return (
      <CSPProvider disableStyleElements>
        <LinkBanner />
        <Suspense fallback={<Spinner label="loading" />}>
          <ApprovePage />
        </Suspense>
      </CSPProvider>
    );
  return (
    <CSPProvider disableStyleElements>
      <LinkBanner />
      <div className={`shell ${sidebar ? "" : "no-sidebar"}`}>
        {sidebar && <SidebarBackdrop />}
        <Sidebar onNew={onNew} onFind={onFind} />
        <Suspense fallback={<Spinner label="loading" />}>
          <Shown here={here} onHelp={onHelp} />
        </Suspense>
      </div>
      <Palette open={finding} onClose={() => setFinding(false)} onNew={onNew} onHelp={onHelp} operate={operate} />
      <Help open={helping} onClose={() => setHelping(false)} />
      <Notes />
    </CSPProvider>
  );
}

function Shown({ here, onHelp }: { here: Route; onHelp(): void }) {
  if (here.page === "session") return <SessionPage key={here.id} id={here.id} at={here.at ?? null} />;
  if (here.page === "compare") return <ComparePage key={here.ids.join()} ids={here.ids} />;
  if (here.page === "home") return <StartPage />;
  const Page = pages[here.page];
  return <Page onHelp={onHelp} />;
}

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
    : here.page === "home" || here.page === "session"
      ? "dragoman"
      : `${here.page.charAt(0).toUpperCase()}${here.page.slice(1)} · dragoman`;
  useEffect(() => {
    document.title = waiting > 0 ? `(${waiting}) ${name}` : name;
  }, [waiting, name]);
}
