/** Rows that are no items: turns, permissions, questions, errors, the end of the session, and the rarer events. */
import type { ReactNode } from "react";
import type { PermissionData, QuestionData, StderrOutput, Usage } from "../../../src/schema/event-data.ts";
import { movedWords } from "../fleet/moved-words.ts";
import { useSignal } from "../state/store.ts";
import type { Entry, MarkEvent, Task } from "../state/transcript-fold.ts";
import { CodeBlock } from "../ui/code-block.tsx";
import { count, duration, spentText, timeOfDay } from "../ui/format.ts";
import { Icon, type IconName } from "../ui/icons.tsx";
import { Visible } from "../ui/visible.tsx";
import { useView } from "./context.ts";
import { errorAdvice, errorTitles } from "./error-advice.ts";
import { Output } from "./parts.tsx";
import { planAsked } from "./plan-text.tsx";
import { plainPreview } from "./reasoning-head.ts";
import { Removed } from "./removed-row.tsx";
import { TurnActions } from "./turn-actions.tsx";

type Shown = Exclude<Entry, { kind: "item" }>;

export function EntryRow({ entry }: { entry: Shown }) {
  switch (entry.kind) {
    case "turn-start":
      return <TurnStart id={entry.turn_id} />;
    case "turn-end":
      return <TurnEnd id={entry.turn_id} />;
    case "permission":
      return <PermissionLine data={entry.data} />;
    case "question":
      return <QuestionLine data={entry.data} />;
    case "retry":
      return (
        <Line icon="refresh" kind="warning">
          {entry.data.status === "stalled" ? "Stalled" : "Retrying"}
          {entry.data.attempt !== undefined && `, attempt ${entry.data.attempt}`}
          {entry.data.detail && `: ${entry.data.detail}`}
        </Line>
      );
    case "task":
      return <TaskRow task={entry.task} />;
    case "removed":
      return <Removed entry={entry} />;
    case "mark":
      return <Mark event={entry.event} />;
  }
}

const Line = ({ icon, kind = "", children }: { icon: IconName; kind?: string; children: ReactNode }) => (
  <div className={`line ${kind}`}>
    <Icon name={icon} size={13} />
    <span className="line-text">{children}</span>
  </div>
);

function Spent({ usage, cost }: { usage: Usage | undefined; cost: number | undefined }) {
  const figures = spentText(usage, cost);
  if (figures === "") return null;
  return (
    <span className="dim" title={usage && `${usage.input_tokens} in, ${usage.output_tokens} out`}>
      {figures}
    </span>
  );
}

function TurnStart({ id }: { id: string }) {
  const view = useView();
  const turn = useSignal(view.changed, () => view.fold.turns.get(id));
  return turn?.initiator === "agent" ? <Line icon="users">The agent started a turn by itself</Line> : null;
}

const STOPS = {
  end_turn: "Done",
  interrupted: "Interrupted",
  error: "Ended by an error",
  refusal: "Refused",
  output_length: "Cut at the output limit",
  max_turns: "Turn limit reached",
  max_budget: "Budget used up",
} as const;

function TurnEnd({ id }: { id: string }) {
  const view = useView();
  const turn = useSignal(view.changed, () => view.fold.turns.get(id));
  const ended = turn?.ended;
  if (!ended) return null;
  const good = ended.stop_reason === "end_turn";
  return (
    <div className={`turn-end ${good ? "" : "warning"}`}>
      <span className="turn-stop">{STOPS[ended.stop_reason]}</span>
      {turn.started_at && <span className="dim">{duration(Date.parse(ended.at) - Date.parse(turn.started_at))}</span>}
      <Spent usage={ended.usage} cost={ended.usage?.cost_usd} />
      <time className="dim" dateTime={ended.at} title={new Date(ended.at).toLocaleString()}>
        {timeOfDay(ended.at)}
      </time>
      <TurnActions turn={turn} />
    </div>
  );
}

const BY = { client: "", policy: " by policy", agent: " by the agent", session_end: " because the session ended" } as const;

function PermissionLine({ data }: { data: PermissionData }) {
  const { resolved_by, reply, message, updated_input } = data.metadata;
  const by = resolved_by ? BY[resolved_by] : "";
  if (data.status === "requested")
    return (
      <Line icon="shield" kind="waiting">
        Waiting for your permission: <Visible text={data.action} />
      </Line>
    );
  return (
    <Line icon="shield" kind={data.status === "denied" ? "warning" : ""}>
      {data.status === "denied" ? "Denied" : reply === "always" ? "Always allowed" : "Allowed"}
      {by}: <Visible text={data.action} />
      {message && <span className="dim"> “{message}”</span>}
      {updated_input !== undefined && <span className="tag">input edited</span>}
    </Line>
  );
}

function QuestionLine({ data }: { data: QuestionData }) {
  if (data.status === "requested")
    return (
      <Line icon="question" kind="waiting">
        Waiting for your answer: <Visible text={asked(data, data.prompt)} />
      </Line>
    );
  if (data.status === "rejected")
    return (
      <Line icon="question" kind="warning">
        Not answered{data.resolved_by ? BY[data.resolved_by] : ""}: <Visible text={asked(data, data.prompt)} />
      </Line>
    );
  return (
    <div className="answers">
      {data.questions.map((question, index) => (
        <Line key={question.prompt} icon="question">
          <Visible text={asked(data, question.prompt)} /> <strong>{data.answers?.[index]?.join(", ") || "no answer"}</strong>
        </Line>
      ))}
    </div>
  );
}

/** A plan in a line is plain text: it stands in full in its tool call. */
const asked = (data: QuestionData, prompt: string): string =>
  prompt === planAsked(data) ? `Plan: ${plainPreview(prompt)}` : prompt;

const TaskRow = ({ task }: { task: Task }) => (
  <div className="task">
    <Line icon="terminal" kind={task.status === "failed" ? "warning" : ""}>
      {task.by === "person" ? "Beside the agent" : "In the background"}: {task.title} <span className="tag">{task.status}</span>
      {task.error && <span className="dim"> {task.error}</span>}
    </Line>
    <Output text={task.output} live={task.status === "running"} />
  </div>
);

const capital = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

function Mark({ event }: { event: MarkEvent }) {
  switch (event.type) {
    case "error":
      return (
        <div className="error-row" role="alert">
          <div className="error-head">
            <Icon name="alert" size={14} />
            <strong>{errorTitles[event.data.code]}</strong>
            {event.data.details.retryable && <span className="tag">can be retried</span>}
            {event.data.details.exit_code != null && <span className="tag">exit {event.data.details.exit_code}</span>}
            {event.data.details.signal && <span className="tag">{event.data.details.signal}</span>}
            <span className="error-code dim" title={`Reported by the ${event.data.details.error_source}`}>
              <code>{event.data.code}</code>
            </span>
          </div>
          <p>{event.data.message}</p>
          <Stderr stderr={event.data.details.stderr} />
          <p className="advice">{errorAdvice[event.data.code]}</p>
        </div>
      );
    case "session.ended":
      return <Ended data={event.data} />;
    case "session.compacted":
      return (
        <div className="compacted">
          <Icon name="compress" size={14} />
          <span>
            Compacted{event.data.trigger === "auto" ? " by itself" : ""}
            {event.data.pre_tokens !== undefined && `: ${count(event.data.pre_tokens)}`}
            {event.data.post_tokens !== undefined && ` → ${count(event.data.post_tokens)} tokens`}
          </span>
          {event.data.summary && <p className="dim">{event.data.summary}</p>}
        </div>
      );
    case "session.moved":
      return (
        <Line icon="server" kind={event.data.reason === "takeover" ? "warning" : ""}>
          <span className="moved">
            {capital(movedWords(event.data))} at #{event.sequence}
          </span>
        </Line>
      );
    case "auth.status":
      return event.data.status === "ok" ? null : (
        <Line icon="shield" kind="warning">
          Sign-in {event.data.status.replace("_", " ")}
          {event.data.message && `: ${event.data.message}`} {event.data.url && <code>{event.data.url}</code>}
        </Line>
      );
    case "checkpoint.created":
      return <Line icon="flag">Checkpoint: {event.data.label}</Line>;
    case "checkpoint.rewound":
      return <Line icon="refresh">Rewound to checkpoint: {event.data.label}</Line>;
    case "checkpoint.failed":
      return (
        <Line icon="flag" kind="warning">
          {event.data.action === "create" ? "No checkpoint" : "Not rewound"}: {event.data.error}
        </Line>
      );
    case "team.message":
      return (
        <Line icon="users">
          {event.data.from} → {event.data.to}: {event.data.text}
        </Line>
      );
    case "team.task_updated":
      return (
        <Line icon="users">
          Team task {event.data.title ?? event.data.task_id}: {event.data.status}
          {event.data.owner && ` (${event.data.owner})`}
        </Line>
      );
    case "skill.loaded":
      return <Line icon="flag">Skill loaded: {event.data.name}</Line>;
    case "skill.invoked":
      return <Line icon="flag">Skill used: {event.data.name}</Line>;
    case "skill.warning":
      return (
        <Line icon="flag" kind="warning">
          Skill {event.data.name}: {event.data.detail}
        </Line>
      );
    case "agent.unparsed":
      return (
        <Line icon="alert" kind="warning">
          A native message was not understood: {event.data.error} <span className="dim">#{event.sequence}</span>
        </Line>
      );
  }
}

const REASONS = {
  completed: "The session is complete",
  error: "The session ended with an error",
  terminated: "The session was ended",
};

/** The last words of a process that ended. */
function Stderr({ stderr }: { stderr: StderrOutput | undefined }) {
  const text = [stderr?.head, stderr?.truncated ? "…" : null, stderr?.tail].filter((each) => each).join("\n");
  return text ? <CodeBlock code={text} language="stderr" /> : null;
}

function Ended({ data }: { data: Extract<MarkEvent, { type: "session.ended" }>["data"] }) {
  return (
    <div className={`session-end ${data.reason}`}>
      <div className="session-end-head">
        <Icon name="stop" size={14} />
        <strong>{REASONS[data.reason]}</strong>
        <span className="dim">{data.actor ? `by a client (${data.actor.surface})` : `by the ${data.terminated_by}`}</span>
        {data.exit_code != null && <span className="tag">exit {data.exit_code}</span>}
        {data.signal && <span className="tag">{data.signal}</span>}
      </div>
      {data.message && <p>{data.message}</p>}
      <Stderr stderr={data.stderr} />
    </div>
  );
}
