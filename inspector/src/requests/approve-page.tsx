/** The whole page of a token that may answer and nothing else: what waits for a person, the oldest first, and nothing besides. */
import { titleOf } from "../sessions/session-row.tsx";
import { daemon } from "../state/daemon.ts";
import { forgetToken } from "../state/page-token.ts";
import { hrefOf } from "../state/route.ts";
import { sessions } from "../state/sessions.ts";
import { useSignal } from "../state/store.ts";
import { AgentIcon } from "../ui/agent-icon.tsx";
import { IconButton, Spinner } from "../ui/controls.tsx";
import { Icon } from "../ui/icons.tsx";
import { scrollable } from "../ui/scrollable.ts";
import { RequestCards } from "./request-cards.tsx";

export default function ApprovePage() {
  const requests = useSignal(sessions.changed, sessions.requests);
  const loaded = useSignal(sessions.changed, sessions.loaded);
  const ids = [...new Set(requests.toSorted((a, b) => a.at.localeCompare(b.at)).map((each) => each.session_id))];
  const signOut = async (): Promise<void> => {
    await daemon.signOut().catch(() => {});
    forgetToken();
    location.reload();
  };
  return (
    <main className="page approve-page">
      <header className="session-head">
        <img src="/ui/icon.svg" alt="" width="22" height="22" />
        <div className="session-name">
          <h1>{requests.length === 0 ? "Nothing waits for you" : `${requests.length} waiting for you`}</h1>
          <div className="session-facts dim">Answer requests. Nothing else is possible here.</div>
        </div>
        <IconButton icon="signOut" label="Sign out" onClick={() => void signOut()} />
      </header>
      <div className="approve-list" {...scrollable}>
        {!loaded && <Spinner label="loading" />}
        {loaded && ids.length === 0 && (
          <p className="blank dim">
            <Icon name="check" size={28} />
            Requests appear here as they come.
          </p>
        )}
        {ids.map((id) => (
          <Asking key={id} id={id} />
        ))}
      </div>
    </main>
  );
}

function Asking({ id }: { id: string }) {
  const row = useSignal(sessions.changed, () => sessions.get(id));
  if (!row) return null;
  return (
    <section className="waiting-session" aria-label={titleOf(row)}>
      <a className="live-head" href={hrefOf({ page: "session", id })}>
        <AgentIcon agent={row.agent} />
        <strong>
          <bdi>{titleOf(row)}</bdi>
        </strong>
        <Icon name="chevron" size={14} />
      </a>
      <RequestCards session={id} agent={row.agent} chords={false} />
    </section>
  );
}
