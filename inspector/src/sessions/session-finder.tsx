/** Search, filters and the list they leave; several can be chosen and dealt with at once. */
import { useCallback, useDeferredValue, useMemo, useRef, useState } from "react";
import type { Session } from "../../../src/schema/session.ts";
import { access, canOperate } from "../state/daemon.ts";
import { fleet, nodeChoices, nodesMeant } from "../state/fleet.ts";
import { preferences, seen } from "../state/preferences.ts";
import { go } from "../state/route.ts";
import { sessions } from "../state/sessions.ts";
import { useSignal, useStore } from "../state/store.ts";
import { IconButton } from "../ui/controls.tsx";
import { Icon } from "../ui/icons.tsx";
import { useMinute } from "../ui/use-minute.ts";
import { type Answering, AnswerPopover } from "./answer-popover.tsx";
import { BulkBar } from "./bulk-bar.tsx";
import { FilterMenu } from "./filter-menu.tsx";
import { type FilterName, filters, matches } from "./filters.ts";
import { SearchHits } from "./search-hits.tsx";
import { SessionList } from "./session-list.tsx";

const NONE: ReadonlySet<string> = new Set();

export function SessionFinder() {
  const rows = useSignal(sessions.changed, sessions.list);
  const loaded = useSignal(sessions.changed, sessions.loaded);
  const operate = canOperate(useStore(access));
  const { grouping } = useStore(preferences);
  const [search, setSearch] = useState("");
  const [filter, setFilter] = useState<FilterName>("all");
  const [agent, setAgent] = useState("");
  const [node, setNode] = useState("");
  const { nodes } = useStore(fleet);
  const wantedNodes = useMemo(() => nodesMeant(nodes, node), [nodes, node]);
  const [chosen, setChosen] = useState<ReadonlySet<string> | null>(null);
  const [answering, setAnswering] = useState<Answering>(null);
  const last = useRef<string | null>(null);
  const now = useMinute();
  const names = useMemo(() => [...new Set(rows.map((row) => row.agent))].sort(), [rows]);
  // What was read matters to one filter only: reading must not sort ten thousand rows again.
  const read = useSignal(seen.changed, () => (filter === "unread" ? seen.get() : null));
  const fits = useCallback(
    (row: Session, search: string): boolean => matches(row, { search, filter, agent, nodes: wantedNodes }, read ?? {}),
    [filter, agent, wantedNodes, read],
  );
  // The list follows when there is time: a key is shown at once, however many sessions there are.
  const sought = useDeferredValue(search);
  const shown = useMemo(() => rows.filter((row) => fits(row, sought)), [rows, sought, fits]);
  const order = useRef(shown);
  order.current = shown;
  const choose = useCallback((id: string, on: boolean, range: boolean): void => {
    const ids = order.current.map((row) => row.session_id);
    const [from, to] = [ids.indexOf(last.current ?? id), ids.indexOf(id)].sort((a, b) => a - b);
    const meant = range && from !== undefined && to !== undefined && from >= 0 ? ids.slice(from, to + 1) : [id];
    last.current = id;
    setChosen((before) => {
      const next = new Set(before ?? NONE);
      for (const each of meant) on ? next.add(each) : next.delete(each);
      return next;
    });
  }, []);
  const answer = useCallback((id: string, anchor: Element): void => setAnswering({ id, anchor }), []);
  const label = filters.find(({ name }) => name === filter)?.label;
  return (
    <>
      <div className="search">
        <Icon name="search" size={14} />
        <input
          id="session-search"
          type="search"
          placeholder="Search sessions"
          aria-label="Search sessions"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
          onKeyDown={(event) => {
            const first = event.key === "Enter" && rows.find((row) => fits(row, search));
            if (first) go({ page: "session", id: first.session_id });
            if (event.key === "Escape") event.currentTarget.blur();
          }}
        />
        <FilterMenu
          filter={filter}
          agent={agent}
          agents={names}
          node={node}
          nodes={nodeChoices(nodes)}
          grouping={grouping}
          onFilter={setFilter}
          onAgent={setAgent}
          onNode={setNode}
          onChooseSeveral={operate ? () => setChosen(NONE) : undefined}
        />
      </div>
      {(filter !== "all" || agent !== "" || node !== "") && (
        <div className="filter-shown">
          <span>
            {label}
            {agent && ` · ${agent}`}
            {node && ` · ${node}`}
            <span className="dim"> {shown.length}</span>
          </span>
          <IconButton
            icon="cross"
            className="small"
            label="Show all"
            onClick={() => {
              setFilter("all");
              setAgent("");
              setNode("");
            }}
          />
        </div>
      )}
      {chosen && (
        <BulkBar
          ids={[...chosen]}
          onAll={() => setChosen(new Set(shown.map((row) => row.session_id)))}
          onDone={() => setChosen(null)}
        />
      )}
      {loaded && shown.length === 0 && <p className="empty">{rows.length === 0 ? "No sessions yet." : "None matches."}</p>}
      <SessionList rows={shown} grouping={grouping} now={now} chosen={chosen} onChoose={choose} onAnswer={answer} />
      <SearchHits words={search} now={now} />
      <AnswerPopover answering={answering} onClose={() => setAnswering(null)} />
    </>
  );
}
