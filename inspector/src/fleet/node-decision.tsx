/** Asks before a node is drained or fenced, and says what will happen. */
import { useState } from "react";
import type { Node } from "../../../src/schema/node.ts";
import { visibleLine } from "../../../src/schema/visible-text.ts";
import { daemon, problemText } from "../state/daemon.ts";
import { Button, Notice } from "../ui/controls.tsx";
import { Dialog } from "../ui/dialog.tsx";

export type Decision = { node: Node; action: "drain" | "undo" | "fence" };

const WORDS = {
  drain: {
    title: "Drain",
    button: "Drain it",
    what: [
      "It takes no new session, and gives every session away when its running turn has ended. Nothing is cut.",
      "Sessions whose directory no other node shares stay until it is stopped.",
      "It can be taken back.",
    ],
  },
  undo: {
    title: "Take sessions again",
    button: "Let it take sessions",
    what: ["The drain ends. What was given away stays where it is."],
  },
  fence: {
    title: "Fence",
    button: "Fence it now",
    what: [
      "Its sessions are taken from it at once. Running turns end as interrupted, and other nodes go on with what they can reach.",
      "Whatever it writes from now on is refused by the log, even if it still lives.",
      "This is for a node that hangs or cannot be reached. To stop a node that is well, drain it.",
    ],
  },
} as const;

export function NodeDecision({ decision, onClose }: { decision: Decision | null; onClose(): void }) {
  const [fault, setFault] = useState<string | null>(null);
  const [typed, setTyped] = useState("");
  if (!decision) return null;
  const { node, action } = decision;
  const { title, button, what } = WORDS[action];
  // What cuts running turns is not done by a slip of the hand.
  const sure = action !== "fence" || typed.trim() === node.node_id;
  const close = (): void => {
    setFault(null);
    setTyped("");
    onClose();
  };
  const decide = async (): Promise<void> => {
    try {
      if (action === "fence") await daemon.fenceNode(node.node_id);
      else await daemon.drainNode(node.node_id, { undo: action === "undo" });
      close();
    } catch (error) {
      setFault(problemText(error));
    }
  };
  return (
    <Dialog open onClose={close} title={`${title}: ${visibleLine(node.node_id)}`}>
      <div className="dialog-body node-decision">
        <p>
          {node.sessions === 1 ? "1 session" : `${node.sessions} sessions`}, {node.load} running.
        </p>
        <ul>
          {what.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
        {action === "fence" && (
          <label className="field">
            <span className="field-label">Type the node's name to confirm</span>
            <input value={typed} autoComplete="off" onChange={(event) => setTyped(event.target.value)} />
          </label>
        )}
        {fault && <Notice kind="error">{fault}</Notice>}
      </div>
      <div className="dialog-foot">
        <Button onClick={close}>Cancel</Button>
        <Button look={action === "fence" ? "danger" : "primary"} disabled={!sure} onClick={() => void decide()}>
          {button}
        </Button>
      </div>
    </Dialog>
  );
}
