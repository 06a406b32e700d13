/** The box a session begins with: what should be done, and as chips who does it, where, with which model and how freely. */
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import type { PermissionMode } from "../../../src/schema/event-data.ts";
import { visibleLine } from "../../../src/schema/visible-text.ts";
import { hasSignIn } from "../agents/agent-actions.tsx";
import { AttachmentList } from "../composer/attachment-list.tsx";
import { AttachButton, useAttached } from "../composer/use-attached.tsx";
import { useGrowing } from "../composer/use-growing.ts";
import { agentOf, agents, readAgents } from "../state/agents.ts";
import { daemon, problemText } from "../state/daemon.ts";
import { useOffer } from "../state/offer.ts";
import { prefer, preferences } from "../state/preferences.ts";
import { go } from "../state/route.ts";
import { sendMessage } from "../state/send-message.ts";
import { sessions } from "../state/sessions.ts";
import { useSignal, useStore } from "../state/store.ts";
import { AgentIcon } from "../ui/agent-icon.tsx";
import { Choice } from "../ui/choice.tsx";
import { Button, Notice, Spinner } from "../ui/controls.tsx";
import { baseName } from "../ui/format.ts";
import { Icon } from "../ui/icons.tsx";
import { MoreOptions } from "./more-options.tsx";
import { emptyForm, type Form, firstAgent, isReady, offeredModes, recentDirectories, requestOf } from "./new-session-form.ts";
import { useDirectories } from "./use-directories.ts";

const HIGHEST = 320;
const draft = { text: "", form: emptyForm };

export function PromptBox() {
  const known = useStore(agents);
  const rows = useSignal(sessions.changed, sessions.list);
  const loaded = useSignal(sessions.changed, sessions.loaded);
  const [text, setText] = useState(draft.text);
  const [form, setForm] = useState<Form>(draft.form);
  const [fault, setFault] = useState<string | null>(null);
  const { files, setFiles, add, onPaste } = useAttached(setFault);
  const [busy, setBusy] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const info = agentOf(known, form.agent);
  const offer = useOffer(form.agent);
  const change = (patch: Partial<Form>): void => setForm((value) => ({ ...value, ...patch }));
  Object.assign(draft, { text, form });
  useEffect(() => void readAgents(), []);
  useEffect(() => {
    if (known.state !== "known" || !loaded) return;
    setForm((value) => ({
      ...value,
      agent: value.agent || firstAgent(known.agents, preferences.get(), rows),
      directory: value.directory || preferences.get().directory || (rows[0]?.directory ?? ""),
    }));
  }, [known, loaded, rows]);
  useGrowing(area, text, HIGHEST);
  const start = async (): Promise<void> => {
    if (busy || text.trim() === "" || form.agent === "") return;
    setBusy(true);
    setFault(null);
    try {
      const handle = await daemon.createSession(requestOf(form));
      sessions.accept(await handle.get());
      prefer({ agent: form.agent });
      // Not waited for: the session is open by then, and shows the message.
      void sendMessage(handle.id, { text, files }, true);
      setText("");
      change({ title: "" });
      go({ page: "session", id: handle.id });
    } catch (error) {
      setFault(problemText(error));
      setBusy(false);
    }
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void start();
  };
  const here = known.state === "known" ? known.agents.filter((each) => each.installed) : [];
  const variants = offer?.models.find((each) => each.id === form.model)?.variants ?? [];
  const directories = useDirectories(recentDirectories(rows));
  return (
    <section className="composer prompt-box" aria-label="New session">
      {fault && <Notice kind="error">{fault}</Notice>}
      <AttachmentList files={files} onChange={setFiles} />
      <textarea
        id="composer"
        ref={area}
        rows={2}
        value={text}
        aria-label="What should be done?"
        placeholder="What should be done?"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
      />
      <div className="composer-bar">
        <AttachButton onAdd={add} />
        <div className="prompt-chips">
          {known.state === "unknown" && (
            <span className="chip">
              <Spinner label="looking" /> Looking for agents
            </span>
          )}
          {here.length > 0 && (
            <Choice
              label="Agent"
              value={form.agent || null}
              otherwise="Choose an agent"
              options={here.map((each) => ({
                value: each.agent,
                label: each.name,
                hint: isReady(each) ? undefined : hasSignIn(each) ? "not signed in" : "not set up",
                icon: <AgentIcon agent={each.agent} size={16} />,
              }))}
              onChange={(agent) => change({ agent, model: "", variant: "", mode: "", permission: "default" })}
            />
          )}
          <Choice
            label="Directory"
            icon="folder"
            value={form.directory || null}
            otherwise="Daemon's directory"
            options={directories.options.map((path) => ({
              value: path,
              label: visibleLine(baseName(path)),
              hint: visibleLine(path),
            }))}
            free={directories.free}
            onChange={(directory) => change({ directory })}
          />
          <Choice
            label="Model"
            icon="cpu"
            value={form.model || null}
            otherwise={offer?.models.find((each) => each.is_default)?.name ?? "Default model"}
            options={(offer?.models ?? []).map((each) => ({
              value: each.id,
              label: each.name ?? each.id,
              hint: each.name && each.name !== each.id ? each.id : undefined,
            }))}
            free={{ placeholder: "Search, or name a model" }}
            onChange={(model) => change({ model, variant: "" })}
          />
          <Choice
            label="Variant"
            icon="brain"
            value={form.variant || null}
            otherwise="Default"
            options={variants.map((value) => ({ value, label: value }))}
            onChange={(variant) => change({ variant })}
          />
          <Choice
            label="Mode"
            icon="options"
            value={form.mode || null}
            otherwise="Default mode"
            options={(offer?.modes ?? []).map((each) => ({ value: each.id, label: each.name ?? each.id }))}
            onChange={(mode) => change({ mode })}
          />
          <Choice
            label="Permissions"
            icon="shield"
            value={form.permission}
            options={offeredModes(info).map((mode) => ({ value: mode.id, label: mode.name, hint: mode.about }))}
            onChange={(mode) => change({ permission: mode as PermissionMode })}
          />
          <MoreOptions form={form} info={info} onChange={change} />
        </div>
        <Button
          look="primary"
          className="send"
          aria-label="Start"
          title="Start (Enter)"
          disabled={busy || text.trim() === "" || form.agent === ""}
          onClick={() => void start()}
        >
          {busy ? <Spinner label="starting" /> : <Icon name="send" />}
        </Button>
      </div>
    </section>
  );
}
