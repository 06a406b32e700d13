/** A program of the daemon's machine in a terminal on the page, for what an agent does only there: signing in, verifying. Ended when it is closed. */
import { useEffect, useMemo, useState } from "react";
import { daemon, problemText } from "../state/daemon.ts";
import { TaskTransport } from "../terminal/task-transport.ts";
import { Terminal } from "../terminal/terminal.tsx";
import { Notice, Spinner } from "../ui/controls.tsx";
import { Dialog } from "../ui/dialog.tsx";

type Props = { title: string; about: string; argv: readonly string[]; onClose(): void };

export function AgentTerminal({ title, about, argv, onClose }: Props) {
  const [id, setId] = useState<string | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const line = argv.join(" ");
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same words are the same program.
  useEffect(() => {
    let started: string | undefined;
    let gone = false;
    daemon.startTask({ argv: [...argv], title, execution_mode: "pty" }).then(
      (task) => {
        started = task.id;
        if (gone)
          void daemon
            .task(task.id)
            .cancel("closed")
            .catch(() => {});
        else setId(task.id);
      },
      (error: unknown) => setFault(problemText(error)),
    );
    return () => {
      gone = true;
      if (started)
        void daemon
          .task(started)
          .cancel("closed")
          .catch(() => {});
    };
  }, [line]);
  return (
    <Dialog open onClose={onClose} title={title} wide>
      <div className="dialog-body">
        <p className="dim">{about}</p>
        {fault && <Notice kind="error">{fault}</Notice>}
        <div className="agent-terminal">{id ? <Running id={id} label={line} /> : !fault && <Spinner label="starting" />}</div>
      </div>
    </Dialog>
  );
}

function Running({ id, label }: { id: string; label: string }) {
  const transport = useMemo(() => new TaskTransport(daemon.task(id)), [id]);
  return <Terminal transport={transport} label={label} />;
}
