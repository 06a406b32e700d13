/** What few sessions need, behind one button: title, MCP servers, environment, system prompt, an earlier conversation. */
import { useState } from "react";
import type { AgentInfo } from "../../../src/schema/session.ts";
import { can } from "../state/agents.ts";
import { asCurl } from "../state/daemon.ts";
import { Button, CopyButton, Field, IconButton } from "../ui/controls.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { type Form, requestOf } from "./new-session-form.ts";

type Props = { form: Form; info: AgentInfo | undefined; onChange(patch: Partial<Form>): void };

export function MoreOptions({ form, info, onChange }: Props) {
  const [open, setOpen] = useState(false);
  const close = (): void => setOpen(false);
  return (
    <>
      <IconButton icon="dots" label="More options" onClick={() => setOpen(true)} />
      <Dialog open={open} onClose={close} title="Session options" wide>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            close();
          }}
        >
          <div className="dialog-body">
            <Field label="Title" hint="Empty: the session is named after its first message.">
              <input value={form.title} onChange={(event) => onChange({ title: event.target.value })} maxLength={500} />
            </Field>
            <Field
              label="MCP servers"
              hint={
                can(info, "mcp_servers")
                  ? 'One a line: "name command args…" or "name https://…"; or a JSON array.'
                  : "This agent cannot be given MCP servers."
              }
            >
              <textarea
                rows={2}
                value={form.servers}
                disabled={!can(info, "mcp_servers")}
                onChange={(event) => onChange({ servers: event.target.value })}
                placeholder="files npx -y @modelcontextprotocol/server-filesystem ."
              />
            </Field>
            <Field label="Environment" hint="One NAME=value per line, for the agent's process only.">
              <textarea rows={2} value={form.environment} onChange={(event) => onChange({ environment: event.target.value })} />
            </Field>
            {can(info, "system_prompt") && (
              <Field label="System prompt">
                <textarea rows={2} value={form.system} onChange={(event) => onChange({ system: event.target.value })} />
              </Field>
            )}
            {can(info, "resume") && (
              <Field label="Resume" hint="The agent's own id of an earlier conversation, to continue it here.">
                <input value={form.resume} onChange={(event) => onChange({ resume: event.target.value })} />
              </Field>
            )}
          </div>
          <div className="dialog-foot">
            <CopyButton
              label="Copy as curl"
              text={() => asCurl({ method: "POST", path: "/v1/sessions", body: JSON.stringify(requestOf(form)) })}
            />
            <span className="grow" />
            <Button look="primary" type="submit">
              Done
            </Button>
          </div>
        </form>
      </Dialog>
    </>
  );
}
