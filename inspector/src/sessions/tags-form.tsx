// The tags of a session: words separated by commas.
import { type FormEvent, useState } from "react";
import type { Session } from "../../../src/schema/session.ts";
import { daemon, problemText } from "../state/daemon.ts";
import { sessions } from "../state/sessions.ts";
import { Button, Field, Notice } from "../ui/controls.tsx";

export function TagsForm({ row, onDone }: { row: Session; onDone(): void }) {
  const [text, setText] = useState(row.tags.join(", "));
  const [fault, setFault] = useState<string | null>(null);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const tags = text
      .split(",")
      .map((tag) => tag.trim())
      .filter(Boolean);
    try {
      sessions.accept(await daemon.session(row.session_id).update({ tags: [...new Set(tags)] }));
      onDone();
    } catch (error) {
      setFault(problemText(error));
    }
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <div className="dialog-body">
        <Field label="Tags, separated by commas">
          <input value={text} onChange={(event) => setText(event.target.value)} placeholder="review, customer-a" />
        </Field>
        {fault && <Notice kind="error">{fault}</Notice>}
      </div>
      <div className="dialog-foot">
        <span className="grow" />
        <Button onClick={onDone}>Cancel</Button>
        <Button look="primary" type="submit">
          Save
        </Button>
      </div>
    </form>
  );
}
