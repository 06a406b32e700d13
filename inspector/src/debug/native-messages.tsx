/**
 * Every native message of the session as it came over the wire, in both directions: what an agent's program or, for our own agent, the provider really sent.
 * Read in pages from the beginning; what is added comes with the next page.
 */
import { useCallback, useEffect, useRef, useState } from "react";
import type { Session } from "../../../src/schema/session.ts";
import { daemon, problemText } from "../state/daemon.ts";
import { CodeBlock } from "../ui/code-block.tsx";
import { Button, Notice, Spinner } from "../ui/controls.tsx";
import { duration } from "../ui/format.ts";
import { scrollable } from "../ui/scrollable.ts";

type NativeMessage = { native_seq: number; t_ms: number; dir: string; type: string; disposition: string; data: unknown };

const PAGE = 300;
const DIRECTIONS: Record<string, string> = { in: "to the agent", out: "from the agent" };

export function NativeMessages({ row }: { row: Session }) {
  const { messages, more, fault, load } = useMessages(row.session_id);
  const [words, setWords] = useState("");
  const [open, setOpen] = useState<number | null>(null);
  const first = messages[0]?.t_ms ?? 0;
  const shown = messages.filter(({ type, data }) => matches(`${type} ${textOf(data)}`, words));
  return (
    <div className="native">
      <div className="timeline-filters">
        <input
          type="search"
          aria-label="Search native messages"
          placeholder="Search native messages"
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
      </div>
      {fault && <Notice kind="error">{fault}</Notice>}
      <ol className="native-list" aria-label="Native messages" {...scrollable}>
        {shown.map((each) => (
          <li key={each.native_seq}>
            <button
              type="button"
              className="native-row"
              aria-expanded={open === each.native_seq}
              onClick={() => setOpen(open === each.native_seq ? null : each.native_seq)}
            >
              <span className="dim number">{each.native_seq}</span>
              <span className="dim number">{duration(each.t_ms - first)}</span>
              <span title={DIRECTIONS[each.dir] ?? each.dir}>{each.dir === "in" ? "→" : "←"}</span>
              <code>{each.type}</code>
              <span className={`tag ${each.disposition === "unparsed" ? "warn" : ""}`}>{each.disposition}</span>
            </button>
            {open === each.native_seq && <CodeBlock code={textOf(each.data)} language="json" />}
          </li>
        ))}
        {messages.length === 0 && !more && <li className="dim native-none">No native message yet.</li>}
      </ol>
      {more && <Button onClick={load}>{messages.length === 0 ? <Spinner label="loading" /> : "Load more"}</Button>}
    </div>
  );
}

const textOf = (data: unknown): string => (typeof data === "string" ? data : JSON.stringify(data, null, 2));

const matches = (text: string, words: string): boolean =>
  words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.toLowerCase().includes(word));

function useMessages(id: string) {
  const [messages, setMessages] = useState<NativeMessage[]>([]);
  const [more, setMore] = useState(true);
  const [fault, setFault] = useState<string | null>(null);
  const last = useRef(0);
  const load = useCallback(() => {
    daemon
      .session(id)
      .native({ after: last.current, limit: PAGE })
      .then(
        (lines) => {
          const page = lines
            .split("\n")
            .filter(Boolean)
            .map((line) => JSON.parse(line) as NativeMessage)
            .filter(({ native_seq }) => native_seq > last.current);
          last.current = page.at(-1)?.native_seq ?? last.current;
          setMore(page.length === PAGE);
          setMessages((before) => [...before, ...page]);
        },
        (error: unknown) => {
          setFault(problemText(error));
          setMore(false);
        },
      );
  }, [id]);
  useEffect(load, [load]);
  return { messages, more, fault, load };
}
