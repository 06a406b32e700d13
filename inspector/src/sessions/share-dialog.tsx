/**
 * A link that shows this one session to somebody and lets them change nothing. A page never makes tokens, so that whoever takes one over cannot keep a way in:
 * the token is made on the command line, and becomes a link here.
 */
import { useState } from "react";
import type { Session } from "../../../src/schema/session.ts";
import { hrefOf } from "../state/route.ts";
import { Command } from "../transcript/tools/command.tsx";
import { Button, CopyButton, Field } from "../ui/controls.tsx";
import { Dialog } from "../ui/dialog.tsx";

export function ShareDialog({ row, onClose }: { row: Session; onClose(): void }) {
  const [token, setToken] = useState("");
  const command = `dragoman token mint --role observe --session ${row.session_id}`;
  const link = `${location.origin}/ui#link=${token.trim()}&at=${hrefOf({ page: "session", id: row.session_id }).slice(1)}`;
  return (
    <Dialog open onClose={onClose} title="Share read-only">
      <div className="dialog-body">
        <p>Who has the link sees this session and what is added to it, nothing else, and can change nothing.</p>
        <p className="dim">1. Run this where the daemon runs. It prints a token that ends after a day.</p>
        <div className="share-line">
          <Command text={command} />
          <CopyButton label="Copy the command" text={() => command} />
        </div>
        <Field label="Token" hint="2. Paste what it printed.">
          <input value={token} autoComplete="off" onChange={(event) => setToken(event.target.value)} />
        </Field>
        {token.trim() !== "" && (
          <div className="share-line">
            <input readOnly aria-label="Link" value={link} onFocus={(event) => event.target.select()} />
            <CopyButton label="Copy the link" text={() => link} />
          </div>
        )}
      </div>
      <div className="dialog-foot">
        <span className="grow" />
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
