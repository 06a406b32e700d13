// The tasks of a session: its terminals, live, and the commands that ran beside its turns.
import { useEffect, useMemo, useState } from "react";
import type { Session } from "../../../src/schema/session.ts";
import { isOpen, type TaskInfo } from "../../../src/schema/task.ts";
import { visibleLine } from "../../../src/schema/visible-text.ts";
import { access, canOperate, daemon, problemText } from "../state/daemon.ts";
import { sessions } from "../state/sessions.ts";
import { useStore } from "../state/store.ts";
import { Choice, type Option } from "../ui/choice.tsx";
import { Button, Notice } from "../ui/controls.tsx";
import { clock } from "../ui/format.ts";
import { endOf, TaskTransport } from "./task-transport.ts";
import { Terminal } from "./terminal.tsx";

/** The session shows when a task was made and when it is over, not when it begins to run: while one waits, it is asked for. */
const ASK_AGAIN_MS = 1_000;
/** The person's own shell, where the daemon's environment names one. */
const SHELL = '[ -x "$SHELL" ] && exec "$SHELL"; exec sh';

export function SessionTasks({ row }: { row: Session }) {
  const [tasks, setTasks] = useState<TaskInfo[] | null>(null);
  const [chosen, setChosen] = useState<string | null>(null);
  const [started, setStarted] = useState<string | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const operate = canOperate(useStore(access));
  const id = row.session_id;
  const failed = (error: unknown): void => setFault(problemText(error));
  useEffect(() => {
    const gone = new AbortController();
    const missed = (error: unknown): void => setFault(gone.signal.aborted ? null : problemText(error));
    const read = (): void =>
      void daemon
        .session(id)
        .tasks({}, gone.signal)
        .then((list) => setTasks(list.tasks), missed);
    read();
    const unwatch = sessions.watch(id, ({ type }) => type.startsWith("task.") && read());
    return () => {
      gone.abort();
      unwatch();
    };
  }, [id]);
  const start = (): void =>
    void daemon
      .session(id)
      .startTask({ command: SHELL, title: "terminal", execution_mode: "pty" })
      .then((task) => {
        setStarted(task.id);
        setChosen(task.id);
      }, failed);
  const waiting = tasks?.some(({ status }) => status === "queued") === true;
  useEffect(() => {
    if (!waiting) return;
    const again = (): void =>
      void daemon
        .session(id)
        .tasks()
        .then(
          (list) => setTasks(list.tasks),
          () => {},
        );
    const timer = setInterval(again, ASK_AGAIN_MS);
    return () => clearInterval(timer);
  }, [id, waiting]);
  const shown = tasks?.find(({ task_id }) => task_id === chosen) ?? null;
  return (
    <div className="session-tasks">
      <div className="task-bar">
        {operate && row.status !== "ended" && <Button onClick={start}>New terminal</Button>}
        {tasks && tasks.length > 0 && (
          <Choice
            label="Task"
            icon="terminal"
            value={chosen}
            options={tasks.map(optionOf)}
            otherwise="Choose a task"
            onChange={setChosen}
          />
        )}
        {operate && shown && isOpen(shown) && shown.controls.includes("cancel") && (
          <Button onClick={() => void daemon.task(shown.task_id).cancel("ended in the inspector").catch(failed)}>End it</Button>
        )}
        {operate && shown && isOpen(shown) && <span className="dim">Shift+Esc leaves it</span>}
      </div>
      {fault !== null && <Notice kind="error">{fault}</Notice>}
      {tasks?.length === 0 && chosen === null && (
        <p className="dim">No terminal yet. One runs in the session's directory, and goes on when this page is closed.</p>
      )}
      {chosen !== null && (
        <TaskTerminal
          key={chosen}
          id={chosen}
          label={shown ? nameOf(shown) : "terminal"}
          readOnly={!operate}
          takesFocus={chosen === started}
        />
      )}
    </div>
  );
}

type TaskTerminalProps = { id: string; label: string; readOnly: boolean; takesFocus: boolean };

function TaskTerminal({ id, ...props }: TaskTerminalProps) {
  const transport = useMemo(() => new TaskTransport(daemon.task(id)), [id]);
  return <Terminal transport={transport} {...props} />;
}

function nameOf(task: TaskInfo): string {
  const { command, argv } = task.args as { command?: string; argv?: string[] };
  return visibleLine(task.title ?? command ?? argv?.join(" ") ?? task.task_id);
}

const optionOf = (task: TaskInfo): Option => ({
  value: task.task_id,
  label: `${clock(task.created_at)} ${nameOf(task)}`,
  hint: visibleLine(`${task.owner === "agent" ? "by the agent, " : ""}${isOpen(task) ? task.status : endOf(task)}`),
});
