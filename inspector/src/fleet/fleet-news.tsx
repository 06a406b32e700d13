/** What happened in the fleet since the page was opened: nodes that came and went, and who took which session. */
import { titleOf } from "../sessions/session-row.tsx";
import { fleet, type Moved, type NodeNews } from "../state/fleet.ts";
import { hrefOf } from "../state/route.ts";
import { sessions } from "../state/sessions.ts";
import { useSignal, useStore } from "../state/store.ts";
import { clock } from "../ui/format.ts";
import { movedWords } from "./moved-words.ts";

const WORDS: Record<NodeNews["type"], string> = {
  "node.joined": "joined the fleet",
  "node.up": "takes sessions",
  "node.draining": "is draining",
  "node.lease_lost": "is silent: its lease has run out",
  "node.fenced": "was fenced: others take its sessions over",
  "node.left": "left the fleet",
  "node.forgotten": "was gone for so long that it is listed no more",
  "node.load": "",
};

export function FleetNews() {
  const { news } = useStore(fleet);
  return (
    <section className="fleet-news" aria-label="What happened">
      <h2>What happened</h2>
      {news.length === 0 && <p className="dim">Nothing since this page was opened.</p>}
      <ol>
        {news.map((each) => (
          <li
            key={
              each.type === "session.moved" ? `${each.session_id} ${each.epoch}` : `${each.node.node_id} ${each.type} ${each.at}`
            }
          >
            <time className="dim" dateTime={each.at}>
              {clock(each.at)}
            </time>
            {each.type === "session.moved" ? (
              <MovedSession moved={each} />
            ) : (
              <span>{`${each.node.node_id} ${WORDS[each.type]}`}</span>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

function MovedSession({ moved }: { moved: Moved }) {
  const row = useSignal(sessions.changed, () => sessions.get(moved.session_id));
  return (
    <span>
      <a href={hrefOf({ page: "session", id: moved.session_id })}>
        <bdi>{row ? titleOf(row) : moved.session_id}</bdi>
      </a>{" "}
      {movedWords(moved)} at #{moved.sequence}
    </span>
  );
}
