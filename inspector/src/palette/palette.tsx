/** One box for everything: commands of the page, sessions by name, and the text of their messages. Arrow keys choose, Enter opens. */
import { Dialog as Base } from "@base-ui/react/dialog";
import { type ReactNode, useMemo, useRef, useState } from "react";
import { visibleLine } from "../../../src/schema/visible-text.ts";
import { matches } from "../sessions/filters.ts";
import { Snippet, useSearch } from "../sessions/search-hits.tsx";
import { forkAndOpen, linkTo } from "../sessions/session-actions.tsx";
import { titleOf } from "../sessions/session-row.tsx";
import { StatusDot } from "../sessions/status.tsx";
import { agentOf, agents, can } from "../state/agents.ts";
import { daemon, problemText } from "../state/daemon.ts";
import { prefer, preferences } from "../state/preferences.ts";
import { go, route } from "../state/route.ts";
import { sessions } from "../state/sessions.ts";
import { useSignal } from "../state/store.ts";
import { AgentIcon } from "../ui/agent-icon.tsx";
import { baseName } from "../ui/format.ts";
import { Icon, type IconName } from "../ui/icons.tsx";
import { copyAndSay, note } from "../ui/note.tsx";

type Choice = { key: string; group: string; icon?: IconName; label: ReactNode; hint?: string; run(): void };

const MOST_SESSIONS = 8;
const THEMES = ["system", "light", "dark"] as const;
const THEME_ICONS = { system: "auto", light: "sun", dark: "moon" } as const;

type Props = { open: boolean; onClose(): void; onNew(): void; onHelp(): void; operate: boolean };

export function Palette({ open, onClose, ...actions }: Props) {
  return (
    <Base.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="backdrop" />
        <Base.Popup className="dialog palette" aria-label="Go to anything">
          <PaletteBody onClose={onClose} {...actions} />
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

function PaletteBody({ onClose, onNew, onHelp, operate }: Omit<Props, "open">) {
  const [words, setWords] = useState("");
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const rows = useSignal(sessions.changed, sessions.list);
  const { hits } = useSearch(words);
  const choices = useMemo((): Choice[] => {
    const commands = [...pageCommands({ onNew, onHelp, operate }), ...sessionCommands(operate)].filter(({ hint = "" }) =>
      has(hint, words),
    );
    const named = rows
      .filter((row) => matches(row, { search: words, filter: "all", agent: "", nodes: null }, {}))
      .slice(0, MOST_SESSIONS)
      .map((row) => ({
        key: row.session_id,
        group: "Sessions",
        label: (
          <>
            <span className="session-sign">
              <AgentIcon agent={row.agent} size={20} />
              <StatusDot row={row} />
            </span>{" "}
            <bdi>{titleOf(row)}</bdi>
          </>
        ),
        hint: visibleLine(baseName(row.directory)),
        run: () => go({ page: "session", id: row.session_id }),
      }));
    const said = hits.map((hit) => ({
      key: `${hit.session_id} ${hit.sequence}`,
      group: "In conversations",
      label: <Snippet hit={hit} />,
      hint: visibleLine(hit.title ?? hit.session_id),
      run: () => go({ page: "session", id: hit.session_id, at: hit.sequence }),
    }));
    // What was said comes last: it arrives later, and must not move what Enter would choose.
    return [...named, ...commands, ...said];
  }, [rows, words, hits, onNew, onHelp, operate]);
  const chosen = Math.min(at, choices.length - 1);
  const run = (choice: Choice | undefined): void => {
    if (!choice) return;
    onClose();
    choice.run();
  };
  const move = (by: number): void => {
    const next = (chosen + by + choices.length) % Math.max(1, choices.length);
    setAt(next);
    list.current?.querySelectorAll("[role=option]")[next]?.scrollIntoView({ block: "nearest" });
  };
  return (
    <>
      <div className="palette-input">
        <Icon name="search" size={16} />
        <input
          type="text"
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={choices[chosen] ? `choice-${chosen}` : undefined}
          aria-label="Search sessions, messages and commands"
          placeholder="Search sessions, messages and commands"
          value={words}
          onChange={(event) => {
            setWords(event.target.value);
            setAt(0);
          }}
          onKeyDown={(event) => {
            if (event.key === "ArrowDown" || event.key === "ArrowUp") move(event.key === "ArrowDown" ? 1 : -1);
            else if (event.key === "Enter") run(choices[chosen]);
            else return;
            event.preventDefault();
          }}
        />
      </div>
      <div className="palette-list" id="palette-list" role="listbox" aria-label="Choices" ref={list}>
        {choices.map((choice, index) => (
          <div key={choice.key} role="presentation">
            {choice.group !== choices[index - 1]?.group && <div className="group-head">{choice.group}</div>}
            {/* biome-ignore lint/a11y/useKeyWithClickEvents: the box takes the keys. */}
            <div
              id={`choice-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === chosen}
              className="palette-choice"
              onMouseMove={() => setAt(index)}
              onClick={() => run(choice)}
            >
              {choice.icon && <Icon name={choice.icon} size={15} />}
              <span className="palette-label">{choice.label}</span>
              {choice.hint !== choice.label && <span className="dim palette-hint">{choice.hint}</span>}
            </div>
          </div>
        ))}
        {choices.length === 0 && <p className="empty">Nothing found.</p>}
      </div>
    </>
  );
}

const has = (text: string, words: string): boolean =>
  words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.toLowerCase().includes(word));

const command = (icon: IconName, hint: string, run: () => void, group = "Commands"): Choice => ({
  key: `${group} ${hint}`,
  group,
  icon,
  label: hint,
  hint,
  run,
});

/** What can be done with the session that is open, without a question. */
function sessionCommands(operate: boolean): Choice[] {
  const here = route.get();
  const row = here.page === "session" ? sessions.get(here.id) : undefined;
  if (!row) return [];
  const handle = daemon.session(row.session_id);
  const act = (icon: IconName, name: string, run: () => Promise<unknown>): Choice =>
    command(icon, name, () => void run().catch((error: unknown) => note(problemText(error), true)), "This session");
  const file = async (change: { pinned?: boolean; archived?: boolean }, what: string): Promise<void> => {
    sessions.accept(await handle.update(change));
    note(what);
  };
  const running = row.status === "running" || row.status === "waiting";
  return [
    command("link", "Copy link", () => copyAndSay(linkTo(row.session_id), "Link"), "This session"),
    ...(operate && running ? [act("stop", "Interrupt", () => handle.interrupt())] : []),
    ...(operate && can(agentOf(agents.get(), row.agent), "fork")
      ? [act("branch", "Fork", () => forkAndOpen(row.session_id))]
      : []),
    ...(operate
      ? [
          act("pin", row.pinned ? "Unpin" : "Pin", () => file({ pinned: !row.pinned }, row.pinned ? "Unpinned" : "Pinned")),
          row.archived
            ? act("archive", "Take out of the archive", () => file({ archived: false }, "Taken out of the archive"))
            : act("archive", "Archive", () => file({ archived: true }, "Archived")),
        ]
      : []),
  ];
}

function pageCommands({ onNew, onHelp, operate }: Pick<Props, "onNew" | "onHelp" | "operate">): Choice[] {
  return [
    ...(operate ? [command("plus", "New session", onNew)] : []),
    command("grid", "Start page", () => go({ page: "home" })),
    command("bot", "Agents", () => go({ page: "agents" })),
    command("chart", "Usage", () => go({ page: "usage" })),
    command("flag", "Skills", () => go({ page: "skills" })),
    command("settings", "Settings", () => go({ page: "settings" })),
    command("panel", "Show or hide the debugging drawer", () => prefer({ drawer: !preferences.get().drawer })),
    command("sidebar", "Show or hide the list of sessions", () => prefer({ sidebar: !preferences.get().sidebar })),
    ...THEMES.map((theme) => command(THEME_ICONS[theme], `Theme: ${theme}`, () => prefer({ theme }))),
    command("question", "Keyboard shortcuts", onHelp),
  ];
}
