// One text of a session, changed in a dialog: its title, its tags.
import { type FormEvent, useState } from "react";
import type { Session, UpdateSession } from "../../../src/schema/session.ts";
import { daemon, problemText } from "../state/daemon.ts";
import { sessions } from "../state/sessions.ts";
import { Button, Field, Notice } from "../ui/controls.tsx";

type Props = {
  row: Session;
  label: string;
  value: string;
  submit: string;
  maxLength?: number;
  placeholder?: string;
  changeOf(text: string): UpdateSession;
  onDone(): void;
};

export function TextForm({ row, label, value, submit, maxLength, placeholder, changeOf, onDone }: Props) {
  const [text, setText] = useState(value);
  const [fault, setFault] = useState<string | null>(null);
  const save = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    try {
      sessions.accept(await daemon.session(row.session_id).update(changeOf(text)));
      onDone();
    } catch (error) {
      setFault(problemText(error));
    }
  };
  return (
    <form onSubmit={(event) => void save(event)}>
      <div className="dialog-body">
        <Field label={label}>
          <input value={text} onChange={(event) => setText(event.target.value)} maxLength={maxLength} placeholder={placeholder} />
        </Field>
        {fault && <Notice kind="error">{fault}</Notice>}
      </div>
      <div className="dialog-foot">
        <span className="grow" />
        <Button onClick={onDone}>Cancel</Button>
        <Button look="primary" type="submit">
          {submit}
        </Button>
      </div>
    </form>
  );
}
