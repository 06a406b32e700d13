// The Agent Skills there are for a directory, and how each agent sees them.
import { useEffect, useState } from "react";
import type { SkillList } from "../../../src/schema/skill.ts";
import { visibleLine } from "../../../src/schema/visible-text.ts";
import { daemon, problemText } from "../state/daemon.ts";
import { sessions } from "../state/sessions.ts";
import { useSignal } from "../state/store.ts";
import { Choice } from "../ui/choice.tsx";
import { Notice, Spinner } from "../ui/controls.tsx";
import { baseName } from "../ui/format.ts";
import { PageHead } from "../ui/page-head.tsx";
import { scrollable } from "../ui/scrollable.ts";

const OWN = "";

export default function SkillsPage() {
  const rows = useSignal(sessions.changed, sessions.list);
  const directories = [...new Set(rows.map(({ directory }) => directory))].sort();
  const loaded = useSignal(sessions.changed, sessions.loaded);
  const [picked, setPicked] = useState<string | null>(null);
  // Where work was done last is what a person asks about; its list has their own skills too.
  const directory = picked ?? rows[0]?.directory ?? OWN;
  const [list, setList] = useState<SkillList | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  useEffect(() => {
    if (!loaded) return;
    const gone = new AbortController();
    setFault(null);
    daemon
      .skills(directory === OWN ? {} : { directory }, gone.signal)
      .then(setList, (error: unknown) => !gone.signal.aborted && setFault(problemText(error)));
    return () => gone.abort();
  }, [directory, loaded]);
  return (
    <main className="page">
      <PageHead
        title="Skills"
        about={
          <>
            A message that begins with <code>/name</code> uses one, with any agent
          </>
        }
      />
      <section className="agents" aria-label="Skills" {...scrollable}>
        <div>
          <Choice
            label="Directory"
            icon="folder"
            value={directory}
            options={[
              { value: OWN, label: "Your own only" },
              ...directories.map((each) => ({ value: each, label: visibleLine(baseName(each)), hint: visibleLine(each) })),
            ]}
            onChange={setPicked}
          />
        </div>
        {fault && <Notice kind="error">{fault}</Notice>}
        {!list && !fault && (
          <div>
            <Spinner label="loading" />
          </div>
        )}
        {list && <Found list={list} />}
      </section>
    </main>
  );
}

function Found({ list }: { list: SkillList }) {
  return (
    <>
      {list.directory !== null && !list.trusted && (
        <Notice kind="info">This directory is not trusted, so its own skills do not count.</Notice>
      )}
      {list.skills.length === 0 && (
        <p className="dim">
          No skills yet. A skill is a folder with a <code>SKILL.md</code>: in <code>.agents/skills</code> of the directory, or of
          your home directory.
        </p>
      )}
      <div className="agent-columns">
        {list.skills.map((skill) => (
          <article key={skill.path} className="agent-card" aria-label={skill.name}>
            <header>
              <h2>{visibleLine(skill.name)}</h2>
              <span className="grow" />
              <span className="tag">{skill.scope}</span>
            </header>
            <p>{visibleLine(skill.description)}</p>
            <code className="agent-path">{visibleLine(skill.path)}</code>
            <ul className="capabilities">
              {skill.agents
                .filter(({ visible }) => visible !== "not_visible")
                .map(({ agent, visible }) => (
                  <li key={agent} className={`tag ${visible === "native" ? "good" : ""}`}>
                    {agent}: {visible}
                  </li>
                ))}
            </ul>
          </article>
        ))}
      </div>
      {list.warnings.map(({ name, detail, path }) => (
        <Notice key={`${path} ${detail}`} kind="warning">
          {visibleLine(name ?? "")}: {visibleLine(detail)}
        </Notice>
      ))}
    </>
  );
}
