// A tool call with its arguments, its output as it comes, how it ended and what it changed; and the lid of a sub-agent's work.
import type { ContentPart, ToolKind } from "../../../src/schema/content.ts";
import type { Item } from "../../../src/schema/item.ts";
import { CodeBlock } from "../ui/code-block.tsx";
import { Spinner } from "../ui/controls.tsx";
import { duration, prettyJson } from "../ui/format.ts";
import { Icon, type IconName } from "../ui/icons.tsx";
import { Visible } from "../ui/visible.tsx";
import { useItem, useItems, useToggle, useView } from "./context.ts";
import { Output, Part, Whole } from "./parts.tsx";
import { type PlanInput, PlanText, planIn } from "./plan-text.tsx";
import { plainPreview } from "./reasoning-head.ts";
import type { Row } from "./rows.ts";

type ToolRowProps = { row: Extract<Row, { kind: "tool" }> };
type Result = Extract<ContentPart, { type: "tool_result" }>;

const icons: Record<ToolKind, IconName> = {
  shell: "terminal",
  read: "file",
  write: "edit",
  edit: "edit",
  delete: "trash",
  move: "file",
  search: "search",
  fetch: "globe",
  web_search: "globe",
  mcp: "wrench",
  subagent: "users",
  plan: "list",
  question: "question",
  skill: "flag",
  think: "bulb",
  other: "wrench",
};

export function ToolRow({ row }: ToolRowProps) {
  const view = useView();
  const call = useItem(row.item_id);
  const results = useItems(row.results);
  const part = call?.content.find((each) => each.type === "tool_call");
  const others = [...(call?.content ?? []), ...results.flatMap((item) => item.content)].filter(
    (each) => each.type !== "tool_call" && each.type !== "tool_result",
  );
  const shown = others.some((each) => each.type === "file_ref" && each.diff) || others.some((each) => each.type === "image");
  const running = call?.status === "in_progress";
  const [open, toggle] = useToggle(`tool ${row.item_id}`, running || shown || call?.status === "failed");
  if (!call || part?.type !== "tool_call") return null;
  const outcome = results.flatMap((item) => item.content).find((each) => each.type === "tool_result");
  const kind = part.tool_kind ?? "other";
  const failed = call.status === "failed" || results.some((item) => item.status === "failed");
  return (
    <div className={`tool ${call.status} ${failed ? "bad" : ""}`} data-kind={kind}>
      <div className="tool-head">
        <button type="button" className="tool-toggle" aria-expanded={open} onClick={toggle}>
          <span className="tool-icon">
            <Icon name={icons[kind]} size={14} />
          </span>
          <span className="tool-name">
            <Visible text={part.name} />
          </span>
          <span className="tool-title">
            <Visible text={titleOf(part)} />
          </span>
          <Ending
            call={call}
            outcome={outcome?.type === "tool_result" ? outcome : undefined}
            failed={failed}
            waited={view.fold.waited(row.item_id)}
          />
          <Icon name="chevron" size={12} />
        </button>
        {row.children > 0 && (
          <button
            type="button"
            className="nest-toggle"
            aria-expanded={row.open}
            onClick={() => view.toggle(`nest ${row.item_id}`, !row.open)}
          >
            <Icon name="users" size={13} />
            {row.open ? "Hide" : "Show"} sub-agent ({row.children})
          </button>
        )}
      </div>
      {open && (
        <ToolBody
          part={part}
          results={row.open && row.children > 0 ? [] : results}
          others={others}
          id={row.item_id}
          running={running}
        />
      )}
    </div>
  );
}

/** What a sub-agent handed back, below its work. */
export function OutcomeRow({ results }: { results: string[] }) {
  const items = useItems(results);
  if (items.length === 0) return null;
  return (
    <div className="tool outcome">
      <div className="tool-body">
        <span className="tag">Result</span>
        <Results items={items} live={false} />
      </div>
    </div>
  );
}

type BodyProps = {
  part: Extract<ContentPart, { type: "tool_call" }>;
  results: Item[];
  others: ContentPart[];
  id: string;
  running: boolean;
};

function ToolBody({ part, results, others, id, running }: BodyProps) {
  return (
    <div className="tool-body">
      <Arguments part={part} folded={others.some((each) => each.type === "file_ref" && each.diff)} />
      <Results items={results} live={running} />
      {others.map((each, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts keep their place.
        <Part key={index} part={each} streaming={running} id={`${id} ${index}`} />
      ))}
    </div>
  );
}

const Results = ({ items, live }: { items: Item[]; live: boolean }) =>
  items.flatMap((item) =>
    item.content.map((each) =>
      each.type === "tool_result" ? (
        <div key={`${item.item_id} ${each.call_id}`}>
          <Output text={each.output} live={live || item.status === "in_progress"} />
          {each.artifact && <Whole artifact={each.artifact} what="output" />}
        </div>
      ) : null,
    ),
  );

/** Folded where the diff already says it all. */
function Arguments({ part, folded }: { part: BodyProps["part"]; folded: boolean }) {
  const command = commandOf(part.arguments);
  if (command !== null)
    return (
      <pre className="command">
        <span aria-hidden="true">$ </span>
        <Visible text={command} />
      </pre>
    );
  if (part.arguments === "" || part.arguments === "{}") return null;
  const planned = plannedBy(part);
  const code = <CodeBlock code={prettyJson(planned ? JSON.stringify(planned.rest) : part.arguments)} language="json" />;
  if (planned)
    return (
      <>
        <PlanText text={planned.plan} />
        {Object.keys(planned.rest).length > 0 && code}
      </>
    );
  if (!folded) return code;
  return (
    <details className="more">
      <summary>Arguments</summary>
      {code}
    </details>
  );
}

function plannedBy(part: BodyProps["part"]): PlanInput | null {
  if (part.tool_kind !== "plan") return null;
  try {
    return planIn(JSON.parse(part.arguments));
  } catch {
    return null;
  }
}

/** The exact command line, where the arguments hold one and little else. */
export function commandOf(text: string): string | null {
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value !== "object" || value === null) return null;
    const { command } = value as { command?: unknown };
    if (typeof command === "string") return command;
    return Array.isArray(command) && command.every((word) => typeof word === "string") ? command.join(" ") : null;
  } catch {
    return null;
  }
}

function titleOf(part: BodyProps["part"]): string {
  if (part.title && part.title !== part.name) return part.title;
  if (part.paths?.length) return part.paths.join(", ");
  return commandOf(part.arguments) ?? plainPlan(plannedBy(part)) ?? part.arguments.slice(0, 200);
}

const plainPlan = (planned: PlanInput | null): string | null => (planned ? plainPreview(planned.plan) : null);

type EndingProps = { call: Item; outcome: Result | undefined; failed: boolean; waited: number };

/** The time a person took to answer is not the tool's. */
function Ending({ call, outcome, failed, waited }: EndingProps) {
  const took =
    outcome?.duration_ms ??
    (call.completed_at ? Math.max(0, Date.parse(call.completed_at) - Date.parse(call.started_at) - waited) : undefined);
  if (call.status === "in_progress") return <Spinner label="running" />;
  return (
    <span className="tool-end">
      {outcome?.exit_code != null && outcome.exit_code !== 0 && <span className="tag bad">exit {outcome.exit_code}</span>}
      {took !== undefined && <span className="dim">{duration(took)}</span>}
      <span className={failed ? "mark bad" : "mark good"}>
        <Icon name={failed ? "cross" : "check"} size={14} />
        <span className="sr">{failed ? "failed" : "succeeded"}</span>
      </span>
    </span>
  );
}
