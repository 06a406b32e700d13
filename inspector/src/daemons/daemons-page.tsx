/** Several daemons side by side: what waits, and all sessions in one list with the daemon they are on. Those of others open in their own page. */
import { type FormEvent, useState, useSyncExternalStore } from "react";
import type { Session } from "../../../src/schema/session.ts";
import { visibleLine } from "../../../src/schema/visible-text.ts";
import { titleOf } from "../sessions/session-row.tsx";
import { statusWord } from "../sessions/status.tsx";
import { problemText } from "../state/daemon.ts";
import { type OtherDaemon, otherDaemons } from "../state/other-daemons.ts";
import { hrefOf } from "../state/route.ts";
import { sessions } from "../state/sessions.ts";
import { useSignal, useStore } from "../state/store.ts";
import { AgentIcon } from "../ui/agent-icon.tsx";
import { Button, Notice } from "../ui/controls.tsx";
import { ago } from "../ui/format.ts";
import { PageHead } from "../ui/page-head.tsx";
import { scrollable } from "../ui/scrollable.ts";
import { useMinute } from "../ui/use-minute.ts";

type Line = { row: Session; daemon: string; href: string; own: boolean };

const MOST = 500;

export default function DaemonsPage() {
  const others = useStore(otherDaemons);
  const lines = useLines(others);
  const waiting = lines.filter(({ row }) => row.pending.permissions + row.pending.questions > 0);
  const running = lines.filter(({ row }) => row.status === "running" || row.status === "starting");
  return (
    <main className="page">
      <PageHead
        title="All daemons"
        about={`${others.length + 1} daemons · ${lines.length} sessions · ${running.length} running · ${waiting.length} waiting for you`}
      />
      <section className="fleet" aria-label="All daemons" {...scrollable}>
        {others.length === 0 && (
          <Notice kind="info">
            This daemon names no others. Start it with <code>--daemon http://other:4700</code>, and the other with{" "}
            <code>--allow-origin {location.origin}</code>.
          </Notice>
        )}
        <div className="fleet-nodes">
          {others.map((other) => (
            <DaemonCard key={other.url} other={other} />
          ))}
        </div>
        {waiting.length > 0 && <SessionTable label="Waiting for you" lines={waiting} />}
        <SessionTable label="Sessions" lines={lines.slice(0, MOST)} />
      </section>
    </main>
  );
}

/** Of all daemons, the last written first. */
function useLines(others: readonly OtherDaemon[]): Line[] {
  const own = useSignal(sessions.changed, sessions.list);
  const subscribe = (listener: () => void): (() => void) => {
    const ends = others.map((other) => other.sessions.changed.subscribe(listener));
    return () => ends.forEach((end) => void end());
  };
  useSyncExternalStore(subscribe, () => others.map((other) => other.sessions.get().length + stamp(other.sessions.get())).join());
  const lines = [
    ...own
      .filter((row) => !row.archived)
      .map((row) => ({ row, daemon: "this one", href: hrefOf({ page: "session", id: row.session_id }), own: true })),
    ...others.flatMap((other) =>
      other.sessions.get().map((row) => ({ row, daemon: other.name, href: other.hrefOf(row), own: false })),
    ),
  ];
  return lines.sort((a, b) => (a.row.updated_at < b.row.updated_at ? 1 : -1));
}

/** The same list is the same object: its identity as something that can be compared. */
const stamps = new WeakMap<readonly Session[], string>();
let count = 0;
function stamp(list: readonly Session[]): string {
  const known = stamps.get(list) ?? `:${++count}`;
  stamps.set(list, known);
  return known;
}

const WORDS = { "signed out": "not signed in", connecting: "connecting", live: "connected", failed: "out of reach" } as const;
const LOOKS = { "signed out": "", connecting: "", live: "good", failed: "bad" } as const;

function DaemonCard({ other }: { other: OtherDaemon }) {
  const state = useStore(other.state);
  const list = useStore(other.sessions);
  const [fault, setFault] = useState<string | null>(null);
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget;
    try {
      await other.signIn(String(new FormData(form).get("link") ?? ""));
      setFault(null);
    } catch (error) {
      setFault(problemText(error));
    }
  };
  return (
    <article className="node-card" aria-label={other.name}>
      <header>
        <h2>{visibleLine(other.name)}</h2>
        <span className="grow" />
        <span className={`tag ${LOOKS[state.state]}`}>{WORDS[state.state]}</span>
      </header>
      {state.state === "failed" && <p className="dim">{visibleLine(state.detail)}</p>}
      {state.state === "signed out" ? (
        <form className="sign-in" onSubmit={(event) => void submit(event)}>
          <p className="dim">
            Run <code>dragoman open --no-open</code> on its machine and paste the link: it works once. It must allow{" "}
            <code>{location.origin}</code> (<code>--allow-origin</code>).
          </p>
          <input
            name="link"
            type="password"
            required
            autoComplete="off"
            aria-label={`Link of ${other.name}`}
            placeholder="link, or a token"
          />
          <Button look="primary" type="submit">
            Sign in
          </Button>
          {fault && <Notice kind="error">{fault}</Notice>}
        </form>
      ) : (
        <footer>
          <span className="dim">{list.length} sessions</span>
          <span className="grow" />
          <a href={`${other.url}/ui`} target="_blank" rel="noopener noreferrer">
            Open its page
          </a>
          <Button onClick={() => other.signOut()}>Sign out</Button>
        </footer>
      )}
    </article>
  );
}

function SessionTable({ label, lines }: { label: string; lines: readonly Line[] }) {
  const now = useMinute();
  return (
    <table className="daemon-sessions" aria-label={label}>
      <caption>{label}</caption>
      <thead>
        <tr>
          <th scope="col">Session</th>
          <th scope="col">Daemon</th>
          <th scope="col">Status</th>
          <th scope="col">Written</th>
        </tr>
      </thead>
      <tbody>
        {lines.map(({ row, daemon, href, own }) => (
          <tr key={`${daemon} ${row.session_id}`}>
            <td>
              <AgentIcon agent={row.agent} size={16} />{" "}
              <a href={href} {...(own ? {} : { target: "_blank", rel: "noopener noreferrer" })}>
                <bdi>{titleOf(row)}</bdi>
              </a>
            </td>
            <td>{visibleLine(daemon)}</td>
            <td>{row.pending.permissions + row.pending.questions > 0 ? "waits for you" : statusWord(row)}</td>
            <td className="dim">{ago(row.updated_at, now)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
