/** The inside of a tool card, one view per kind of tool. */
import type { ReactNode } from "react";
import type { ToolKind } from "../../../../src/schema/content.ts";
import { CodeBlock } from "../../ui/code-block.tsx";
import { DiffView } from "../../ui/diff-view.tsx";
import { KeyValues } from "../../ui/key-values.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { Visible } from "../../ui/visible.tsx";
import { Plan } from "../plan-list.tsx";
import { PlanText, planIn } from "../plan-text.tsx";
import { commandOf, type Fields, fieldsOf, questionsIn, type ToolCall, textIn, todosIn } from "./arguments.ts";
import { Command } from "./command.tsx";

/** `shownBelow`: the change itself is shown below, so that the arguments would only repeat it. */
export function AskedFor({ part, shownBelow }: { part: ToolCall; shownBelow: boolean }): ReactNode {
  const kind: ToolKind = part.tool_kind ?? "other";
  const fields = fieldsOf(part.arguments);
  const command = commandOf(part.arguments);
  if (command !== null) return <Command text={command} />;
  switch (kind) {
    case "edit":
    case "write":
    case "delete":
    case "move":
      return shownBelow ? null : <Wanted fields={fields} />;
    case "read":
    case "search":
      return <KeyValues values={without(fields, "file_path", "filePath", "path", "pattern", "query")} />;
    case "fetch":
      return <KeyValues values={without(fields, "url", "uri")} />;
    case "web_search":
      return null;
    case "question":
      return <Questions fields={fields} />;
    case "plan":
      return <Planned fields={fields} />;
    case "subagent": {
      const prompt = textIn(fields, "prompt", "task", "message");
      return prompt === null ? null : <Markdown text={prompt} streaming={false} />;
    }
    default:
      return textIn(fields, "plan", "text") ? <Planned fields={fields} /> : <KeyValues values={fields} />;
  }
}

/** A change that was asked for and is not in any diff: it failed, or has not come yet. */
function Wanted({ fields }: { fields: Fields }) {
  const patch = textIn(fields, "input", "patch", "diff");
  if (patch !== null) return <DiffView text={patch} />;
  const [before, after] = [
    textIn(fields, "old_string", "oldString", "old") ?? "",
    textIn(fields, "new_string", "newString", "new") ?? "",
  ];
  if (before !== "" || after !== "") return <DiffView text={`${prefixed("-", before)}${prefixed("+", after)}`} />;
  const content = textIn(fields, "content", "contents", "text");
  if (content !== null) return <CodeBlock code={content} language="" />;
  return <KeyValues values={without(fields, "file_path", "filePath", "path", "changes")} />;
}

const prefixed = (sign: string, text: string): string => (text === "" ? "" : `${text.replace(/\n$/, "").replace(/^/gm, sign)}\n`);

function Questions({ fields }: { fields: Fields }) {
  const planned = planIn(fields);
  if (planned) return <Planned fields={fields} />;
  return (
    <ul className="asked">
      {questionsIn(fields).map(({ header, prompt, options }) => (
        <li key={prompt}>
          {header && (
            <span className="tag">
              <Visible text={header} />
            </span>
          )}{" "}
          <Visible text={prompt} />
          {options.length > 0 && (
            <span className="dim">
              {" "}
              <Visible text={options.join(" · ")} />
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

function Planned({ fields }: { fields: Fields }) {
  const todos = todosIn(fields);
  if (todos) return <Plan entries={todos} />;
  const planned = planIn(fields) ?? planIn({ plan: fields.text });
  if (!planned) return <KeyValues values={fields} />;
  const { text: _, ...rest } = planned.rest;
  return (
    <>
      <PlanText text={planned.plan} />
      <KeyValues values={rest} />
    </>
  );
}

const without = (fields: Fields, ...names: string[]): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
