// What the agent wants to do, exactly, and every answer it offers. The input can be edited before it is allowed.
import { useId, useRef, useState } from "react";
import type { PermissionData, PermissionOption } from "../../../src/schema/event-data.ts";
import type { PermissionReplyBody } from "../../../src/schema/session.ts";
import { access, canOperate, daemon, problemText } from "../state/daemon.ts";
import { useStore } from "../state/store.ts";
import { commandOf } from "../transcript/tool-row.tsx";
import { CodeBlock } from "../ui/code-block.tsx";
import { Button, Notice } from "../ui/controls.tsx";
import { DiffView } from "../ui/diff-view.tsx";
import { Icon } from "../ui/icons.tsx";
import { scrollable } from "../ui/scrollable.ts";

const replies = { allow_once: "once", allow_always: "always", reject_once: "reject", reject_always: "reject" } as const;
const plain: PermissionOption[] = [
  { id: "", label: "Allow once", kind: "allow_once" },
  { id: "", label: "Always allow", kind: "allow_always" },
  { id: "", label: "Deny", kind: "reject_once" },
];
const shortcuts: Partial<Record<PermissionOption["kind"], string>> = { allow_once: "a", allow_always: "A", reject_once: "x" };

export function PermissionCard({ session, data }: { session: string; data: PermissionData }) {
  const operate = canOperate(useStore(access));
  const { metadata } = data;
  const [edited, setEdited] = useState<string | null>(null);
  const [message, setMessage] = useState("");
  const [fault, setFault] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const title = useId();
  const editor = useRef<HTMLTextAreaElement>(null);
  const options = metadata.options.length > 0 ? metadata.options : plain;
  const answer = async (option: PermissionOption): Promise<void> => {
    const reply = replies[option.kind];
    const body: PermissionReplyBody = { reply, ...(option.id ? { option_id: option.id } : {}) };
    if (reply === "reject" && message) body.message = message;
    try {
      if (reply !== "reject" && edited !== null) body.updated_input = JSON.parse(edited) as unknown;
    } catch {
      setFault("The edited input is not valid JSON. Mend it, or take the edit back.");
      editor.current?.focus();
      return;
    }
    setBusy(true);
    setFault(null);
    try {
      await daemon.session(session).replyPermission(data.permission_id, body);
    } catch (error) {
      setFault(problemText(error));
      setBusy(false);
    }
  };
  return (
    <section className="request permission" aria-labelledby={title} data-request={data.permission_id}>
      <header>
        <Icon name="shield" />
        <h2 id={title}>{data.action}</h2>
        <span className="tag">{metadata.tool_name}</span>
      </header>
      {metadata.reason && <p className="dim">{metadata.reason}</p>}
      {edited === null ? (
        <Wanted data={data} />
      ) : (
        <textarea
          ref={editor}
          className="input-editor"
          aria-label="Input, as JSON"
          rows={Math.min(12, edited.split("\n").length + 1)}
          value={edited}
          onChange={(event) => setEdited(event.target.value)}
        />
      )}
      {fault && <Notice kind="error">{fault}</Notice>}
      {operate && (
        <div className="request-actions">
          {options.map((option) => (
            <Button
              key={`${option.kind} ${option.id}`}
              look={option.kind === "allow_once" ? "primary" : option.kind.startsWith("reject") ? "danger" : "plain"}
              disabled={busy}
              data-answer={option.kind}
              aria-keyshortcuts={shortcuts[option.kind]}
              onClick={() => void answer(option)}
            >
              {option.label}
              {shortcuts[option.kind] && <kbd>{shortcuts[option.kind]}</kbd>}
            </Button>
          ))}
          <input
            className="deny-message"
            placeholder="Say why, when you deny"
            aria-label="Message with a denial"
            value={message}
            onChange={(event) => setMessage(event.target.value)}
            onKeyDown={(event) => {
              const deny = options.find((option) => option.kind.startsWith("reject"));
              if (event.key === "Enter" && deny) void answer(deny);
            }}
          />
          <Button look="quiet" onClick={() => setEdited(edited === null ? JSON.stringify(metadata.input, null, 2) : null)}>
            {edited === null ? "Edit input" : "Undo edit"}
          </Button>
        </div>
      )}
    </section>
  );
}

function Wanted({ data }: { data: PermissionData }) {
  const { input, diff, paths } = data.metadata;
  const text = JSON.stringify(input) ?? "";
  const command = commandOf(text);
  return (
    <div className="wanted">
      {command !== null && (
        <pre className="command" {...scrollable}>
          <span aria-hidden="true">$ </span>
          {command}
        </pre>
      )}
      {paths?.map((path) => (
        <code key={path} className="path">
          {path}
        </code>
      ))}
      {diff && <DiffView text={diff} />}
      {command === null && !diff && text !== "" && text !== "{}" && (
        <CodeBlock code={JSON.stringify(input, null, 2)} language="json" />
      )}
    </div>
  );
}
