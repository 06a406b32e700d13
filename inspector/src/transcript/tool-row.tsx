/** A tool call as a card: what it does in words, how it ended, and inside what it was asked for, what came out and what it changed. Raw is one click away. */
import { useState } from "react";
import type { ContentPart } from "../../../src/schema/content.ts";
import type { PermissionData } from "../../../src/schema/event-data.ts";
import type { Item } from "../../../src/schema/item.ts";
import { useSignal } from "../state/store.ts";
import { CodeBlock } from "../ui/code-block.tsx";
import { Button, Spinner } from "../ui/controls.tsx";
import { DiffCounts } from "../ui/diff-counts.tsx";
import { DiffView } from "../ui/diff-view.tsx";
import { duration, prettyJson } from "../ui/format.ts";
import { Icon } from "../ui/icons.tsx";
import { Markdown } from "../ui/markdown.tsx";
import { Visible } from "../ui/visible.tsx";
import { useItem, useItems, useToggle, useView } from "./context.ts";
import { Output, Part, Whole } from "./parts.tsx";
import type { Row } from "./rows.ts";
import type { ToolCall } from "./tools/arguments.ts";
import { describe, relativePath } from "./tools/describe.ts";
import { AskedFor } from "./tools/views.tsx";

type ToolRowProps = { row: Extract<Row, { kind: "tool" }> };
type Result = Extract<ContentPart, { type: "tool_result" }>;

/** Kinds whose result is text for people. */
const PROSE: ReadonlySet<string> = new Set(["subagent", "fetch", "web_search"]);
/** Kinds whose success says nothing that the card does not. */
const SILENT: ReadonlySet<string> = new Set(["plan", "question", "edit", "write", "delete", "move"]);

export function ToolRow({ row }: ToolRowProps) {
  const view = useView();
  const call = useItem(row.item_id);
  const results = useItems(row.results);
  const permission = useSignal(view.changed, () => view.fold.permissionOf(row.item_id));
  const part = call?.content.find((each) => each.type === "tool_call");
  const others = [...(call?.content ?? []), ...results.flatMap((item) => item.content)].filter(
    (each) => each.type !== "tool_call" && each.type !== "tool_result",
  );
  const diffs = others.flatMap((each) => (each.type === "file_ref" && each.diff ? [each.diff] : []));
  const running = call?.status === "in_progress";
  const kind = part?.tool_kind ?? "other";
  const plan = kind === "plan" && !(call?.turn_id && view.fold.showsPlan(call.turn_id));
  const shown = diffs.length > 0 || plan || others.some((each) => each.type === "image");
  // What waits for a person is shown where it is answered.
  const asked = permission?.status === "requested" || (running && kind === "question");
  const [open, toggle] = useToggle(`tool ${row.item_id}`, !asked && (running || shown || call?.status === "failed"));
  if (!call || part?.type !== "tool_call") return null;
  const outcome = results.flatMap((item) => item.content).find((each) => each.type === "tool_result");
  const failed = call.status === "failed" || results.some((item) => item.status === "failed");
  const waits = permission?.status === "requested";
  // What was denied was not done, although the call has ended like one that failed.
  const denied = permission?.status === "denied" && failed;
  const stage = waits ? "asked" : running ? "running" : denied ? "denied" : "done";
  const { icon, verb, subject, mono } = describe(part, stage, view.directory);
  return (
    <div className={`tool ${call.status} ${failed ? "bad" : ""}`} data-kind={kind} data-tool={part.name}>
      <div className="tool-head">
        <button type="button" className="tool-toggle" aria-expanded={open} onClick={toggle}>
          <span className="tool-icon">
            <Icon name={icon} size={14} />
          </span>
          <span className="tool-name">
            <Visible text={verb} />
          </span>
          <span className={`tool-title ${mono ? "mono" : ""}`}>
            <Visible text={subject} />
          </span>
          {diffs.length > 0 && <DiffCounts text={diffs.join("\n")} />}
          <Allowed permission={permission} />
          {!asked && (
            <Ending
              call={call}
              outcome={outcome?.type === "tool_result" ? outcome : undefined}
              failed={failed}
              waited={view.fold.waited(row.item_id)}
            />
          )}
          <Icon name="chevron" size={14} />
        </button>
        {row.children > 0 && (
          <button
            type="button"
            className="nest-toggle"
            aria-expanded={row.open}
            onClick={() => view.toggle(`nest ${row.item_id}`, !row.open)}
          >
            {row.open ? "Hide" : "Show"} sub-agent ({row.children})
          </button>
        )}
      </div>
      {open && (
        <ToolBody
          part={part}
          results={row.open && row.children > 0 ? [] : results}
          others={others}
          named={subject}
          id={row.item_id}
          running={running}
          failed={failed}
        />
      )}
    </div>
  );
}

/** What a person said about it, where that stands nowhere else. */
function Allowed({ permission }: { permission: PermissionData | undefined }) {
  if (permission?.status !== "approved" || permission.metadata.resolved_by !== "client") return null;
  return <span className="tag">{permission.metadata.reply === "always" ? "always allowed" : "allowed"}</span>;
}

/** What a sub-agent handed back, below its work. */
export function OutcomeRow({ results }: { results: string[] }) {
  const items = useItems(results);
  if (items.length === 0) return null;
  return (
    <div className="tool outcome">
      <div className="tool-body">
        <span className="tool-label">Result</span>
        <Results items={items} live={false} prose />
      </div>
    </div>
  );
}

type BodyProps = {
  part: ToolCall;
  results: Item[];
  others: ContentPart[];
  /** What the head of the card names: a change of that file needs no heading of its own. */
  named: string;
  id: string;
  running: boolean;
  failed: boolean;
};

function ToolBody({ part, results, others, named, id, running, failed }: BodyProps) {
  const { directory } = useView();
  const [raw, setRaw] = useState(false);
  const kind = part.tool_kind ?? "other";
  const shownBelow = others.some((each) => (each.type === "file_ref" && each.diff) || each.type === "plan");
  return (
    <div className="tool-body">
      {raw ? (
        <Raw part={part} results={results} />
      ) : (
        <>
          <AskedFor part={part} shownBelow={shownBelow} />
          {(failed || !SILENT.has(kind)) && <Results items={results} live={running} prose={PROSE.has(kind) && !failed} />}
          {others.map((each, index) =>
            each.type === "file_ref" && each.diff && relativePath(each.path, directory) === named ? (
              <DiffView key={each.path} text={each.diff} path={each.path} />
            ) : (
              // biome-ignore lint/suspicious/noArrayIndexKey: parts keep their place.
              <Part key={index} part={each} streaming={running} id={`${id} ${index}`} />
            ),
          )}
        </>
      )}
      <Button look="quiet" className="small raw-toggle" aria-pressed={raw} onClick={() => setRaw(!raw)}>
        {raw ? "Readable" : "Raw"}
      </Button>
    </div>
  );
}

/** The agent's own name of the tool, its arguments and results as they came. */
const Raw = ({ part, results }: { part: ToolCall; results: Item[] }) => (
  <>
    <CodeBlock code={`${part.name} ${prettyJson(part.arguments)}`} language="json" />
    {results.map((item) => (
      <CodeBlock key={item.item_id} code={JSON.stringify(item.content, null, 2)} language="json" />
    ))}
  </>
);

const Results = ({ items, live, prose }: { items: Item[]; live: boolean; prose: boolean }) =>
  items.flatMap((item) =>
    item.content.map((each) =>
      each.type === "tool_result" ? (
        <div key={`${item.item_id} ${each.call_id}`} className="tool-result">
          {prose ? (
            <Markdown text={each.output} streaming={false} />
          ) : (
            <Output text={each.output} live={live || item.status === "in_progress"} />
          )}
          {each.artifact && <Whole artifact={each.artifact} what="output" />}
        </div>
      ) : null,
    ),
  );

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
