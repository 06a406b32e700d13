/**
 * What the agent wants to do, exactly, and every answer it offers. An answer is given by pressing a button, or by the chord that stands on it; one that
 * holds for ever is asked for once more.
 */
import { lazy, Suspense, useId, useRef, useState } from "react";
import { boundTo } from "../../../src/client/requests.ts";
import type { PermissionData, PermissionOption } from "../../../src/schema/event-data.ts";
import type { PermissionReplyBody } from "../../../src/schema/session.ts";
import { editableJson, visibleText } from "../../../src/schema/visible-text.ts";
import { access, canApprove, daemon, problemText } from "../state/daemon.ts";
import { useStore } from "../state/store.ts";
import { PlanText, planIn } from "../transcript/plan-text.tsx";
import { commandOf, namesCommand } from "../transcript/tools/arguments.ts";
import { Command } from "../transcript/tools/command.tsx";
import { CodeBlock } from "../ui/code-block.tsx";
import { Button, Notice } from "../ui/controls.tsx";
import { Icon } from "../ui/icons.tsx";
import { KeyValues } from "../ui/key-values.tsx";
import { PlainDiff } from "../ui/plain-diff.tsx";
import { Visible } from "../ui/visible.tsx";
import { TrustDetails, trustRequest } from "./trust-details.tsx";

const DiffView = lazy(() => import("../ui/diff-view.tsx").then((module) => ({ default: module.DiffView })));

const replies = { allow_once: "once", allow_always: "always", reject_once: "reject", reject_always: "reject" } as const;
const plain: PermissionOption[] = [
  { id: "", label: "Allow once", kind: "allow_once" },
  { id: "", label: "Always allow", kind: "allow_always" },
  { id: "", label: "Deny", kind: "reject_once" },
];

type CardProps = {
  session: string;
  data: PermissionData;
  /** The chords answer this request: it is the first one that waits. */
  first: boolean;
  /** The agent runs an edited input. */
  editable: boolean;
};

export function PermissionCard({ session, data, first, editable }: CardProps) {
  const approve = canApprove(useStore(access));
  const { metadata } = data;
  const [edited, setEdited] = useState<string | null>(null);
  const [message, setMessage] = useState("");
  const [fault, setFault] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const [forEver, setForEver] = useState<PermissionOption | null>(null);
  const [since] = useState(() => performance.now());
  const title = useId();
  const editor = useRef<HTMLTextAreaElement>(null);
  const card = useRef<HTMLElement>(null);
  const options = metadata.options.length > 0 ? metadata.options : plain;
  const trust = trustRequest(data);
  const command = commandOf(JSON.stringify(metadata.input) ?? "");
  const answer = async (option: PermissionOption): Promise<void> => {
    const reply = replies[option.kind];
    const body: PermissionReplyBody = { reply, ...boundTo(data), ...(option.id ? { option_id: option.id } : {}) };
    if (reply === "reject" && message) body.message = message;
    try {
      if (reply !== "reject" && edited !== null) body.updated_input = JSON.parse(edited) as unknown;
    } catch {
      setFault("The edited input is not valid JSON. Correct it, or discard the edit.");
      editor.current?.focus();
      return;
    }
    setBusy(true);
    setFault(null);
    setForEver(null);
    try {
      await daemon.session(session).replyPermission(data.permission_id, body);
    } catch (error) {
      setFault(problemText(error));
      setBusy(false);
    }
  };
  const press = (option: PermissionOption): void => {
    if (option.kind.endsWith("_always")) setForEver(option);
    else void answer(option);
  };
  const back = (): void => {
    setForEver(null);
    card.current?.focus();
  };
  return (
    <section ref={card} className="request permission" aria-labelledby={title} data-request={data.permission_id} tabIndex={-1}>
      <header>
        <Icon name="shield" />
        <h2 id={title}>{command !== null && !trust ? "Run this command?" : <Visible text={data.action} />}</h2>
        <span className="tag" title="The agent's own name of the tool">
          <Visible text={metadata.tool_name} />
        </span>
      </header>
      {command !== null && !trust && !namesCommand(data.action, command) && (
        <p>
          <Visible text={data.action} />
        </p>
      )}
      {metadata.reason && !trust && (
        <p className="dim request-reason">
          <Visible text={metadata.reason} />
        </p>
      )}
      {trust ? (
        <TrustDetails request={trust} />
      ) : edited === null ? (
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
      {approve && forEver && <Confirm option={forEver} onYes={() => void answer(forEver)} onNo={back} />}
      {approve && !forEver && (
        <div className="request-actions answers-offered">
          {options.map((option, index) => {
            const digit = first && index < 9 ? String(index + 1) : undefined;
            return (
              <Button
                key={`${option.kind} ${option.id}`}
                look={option.kind === "allow_once" ? "primary" : option.kind.startsWith("reject") ? "danger" : "plain"}
                disabled={busy}
                data-answer={option.kind}
                data-chord={digit}
                data-since={since}
                aria-keyshortcuts={digit && `Alt+${digit}`}
                onClick={() => press(option)}
              >
                <Visible text={option.label} />
                {digit && <kbd>Alt {digit}</kbd>}
              </Button>
            );
          })}
          {!trust && (
            <input
              className="deny-message"
              placeholder="Reason for rejecting (optional)"
              aria-label="Reason for rejecting"
              value={message}
              onChange={(event) => setMessage(event.target.value)}
              onKeyDown={(event) => {
                const deny = options.find((option) => option.kind.startsWith("reject"));
                if (event.key === "Enter" && deny) void answer(deny);
              }}
            />
          )}
          {editable && !trust && (
            <Button look="quiet" onClick={() => setEdited(edited === null ? editableJson(metadata.input) : null)}>
              {edited === null ? "Edit input" : "Undo edit"}
            </Button>
          )}
        </div>
      )}
    </section>
  );
}

/** One more question before an answer that holds for ever. The focus goes to the way back. */
function Confirm({ option, onYes, onNo }: { option: PermissionOption; onYes(): void; onNo(): void }) {
  const allows = option.kind.startsWith("allow");
  return (
    <div
      className="request-actions"
      role="alertdialog"
      aria-label="Are you sure?"
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        onNo();
      }}
    >
      <p className="grow">
        <strong>
          <Visible text={option.label} />
        </strong>
        : {allows ? "the agent will not ask again for what this covers." : "it will be rejected from now on, without asking you."}
      </p>
      <Button look={allows ? "primary" : "danger"} data-confirm="yes" onClick={onYes}>
        {allows ? "Yes, always allow" : "Yes, always reject"}
      </Button>
      <Button data-confirm="no" autoFocus onClick={onNo}>
        Back
      </Button>
    </div>
  );
}

function Wanted({ data }: { data: PermissionData }) {
  const [exact, setExact] = useState(false);
  const { input, diff, paths } = data.metadata;
  const text = JSON.stringify(input, null, 2) ?? "";
  const command = commandOf(text);
  const planned = command === null && !diff ? planIn(input) : null;
  const other = planned === null ? input : planned.rest;
  const fields = typeof other === "object" && other !== null ? (other as Record<string, unknown>) : {};
  return (
    <div className="wanted">
      {command !== null && <Command text={command} />}
      {paths?.map((path) => (
        <code key={path} className="path">
          <Visible text={path} />
        </code>
      ))}
      {diff && (
        <Suspense fallback={<PlainDiff text={visibleText(diff)} />}>
          <DiffView text={diff} path={paths?.[0]} />
        </Suspense>
      )}
      {planned && <PlanText text={planned.plan} />}
      {command === null && !diff && !exact && <KeyValues values={fields} />}
      {exact && <CodeBlock code={text} language="json" />}
      {command === null && Object.keys(fields).length > 0 && (
        <Button look="quiet" className="small" onClick={() => setExact(!exact)}>
          {exact ? "Hide the exact input" : "Show the exact input"}
        </Button>
      )}
    </div>
  );
}
