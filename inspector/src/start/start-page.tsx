/** Where the page begins: a box to write in, what runs now, and what there is to know about the agents of this machine. */
import { useEffect } from "react";
import { focusUnlessTyping } from "../composer/focus.ts";
import { LiveSessions } from "../overview/live-sessions.tsx";
import { SidebarToggle } from "../sessions/sidebar-toggle.tsx";
import { access, canOperate } from "../state/daemon.ts";
import { sessions } from "../state/sessions.ts";
import { useSignal, useStore } from "../state/store.ts";
import { scrollable } from "../ui/scrollable.ts";
import { AgentsFound } from "./agents-found.tsx";
import { PromptBox } from "./prompt-box.tsx";

export function StartPage() {
  const operate = canOperate(useStore(access));
  const loaded = useSignal(sessions.changed, sessions.loaded);
  const none = useSignal(sessions.changed, sessions.list).length === 0;
  useEffect(() => {
    if (operate) focusUnlessTyping(document.querySelector("#composer"));
  }, [operate]);
  return (
    <main className="page start-page">
      <header className="start-head">
        <SidebarToggle />
      </header>
      <div className="start-scroll" {...scrollable}>
        <div className="start-column">
          <h1>Every agent, one place</h1>
          {operate ? <PromptBox /> : <p className="dim">Open a session in the list.</p>}
          <LiveSessions />
          {operate && loaded && <AgentsFound first={none} />}
        </div>
      </div>
    </main>
  );
}
