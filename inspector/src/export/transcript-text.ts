/** A session as a text for people: Markdown, or a page of HTML that needs nothing else. Whole, from its first item, read page by page. */
import type { ContentPart } from "../../../src/schema/content.ts";
import type { Item } from "../../../src/schema/item.ts";
import type { Session } from "../../../src/schema/session.ts";
import { speakerOf } from "../../../src/schema/speaker.ts";
import { daemon } from "../state/daemon.ts";
import { describe } from "../transcript/tools/describe.ts";

const SHOWN_OUTPUT = 4_000;

export async function markdownOf(row: Session): Promise<string> {
  const title = row.title ?? row.session_id;
  const parts = [
    `# ${title}`,
    `${row.agent}${row.agent_version ? ` ${row.agent_version}` : ""} · ${row.directory} · ${row.created_at.slice(0, 10)}`,
  ];
  for await (const item of daemon.session(row.session_id).transcript()) {
    const text = itemText(item, row.directory);
    if (text !== "") parts.push(text);
  }
  return `${parts.join("\n\n")}\n`;
}

export function itemText(item: Item, directory: string): string {
  const body = item.content
    .map((part) => partText(part, item.status, directory))
    .filter((text) => text !== "")
    .join("\n\n");
  if (body === "" || item.kind !== "message") return body;
  const speaker = speakerOf(item);
  return `## ${speaker === "user" ? "You" : speaker === "task" ? "Task of a sub-agent" : "Agent"}\n\n${body}`;
}

function partText(part: ContentPart, status: Item["status"], directory: string): string {
  switch (part.type) {
    case "text":
    case "refusal":
      return part.text;
    case "reasoning":
      return part.visibility === "private" || part.text === "" ? "" : part.text.replace(/^/gm, "> ");
    case "tool_call": {
      const { verb, subject } = describe(part, status === "failed" ? "failed" : "done", directory);
      return `**${verb}** ${subject === "" ? "" : `\`${subject.replaceAll("`", "ˋ").replaceAll("\n", " ")}\``}`.trim();
    }
    case "tool_result":
      return part.output.trim() === "" ? "" : fenced(part.output.slice(-SHOWN_OUTPUT));
    case "file_ref":
      return part.diff ? `\`${part.path}\`\n\n${fenced(part.diff, "diff")}` : "";
    case "code":
      return fenced(part.code, part.language);
    case "plan":
      return part.entries.map(({ text, status }) => `- [${status === "completed" ? "x" : " "}] ${text}`).join("\n");
    case "json":
      return fenced(JSON.stringify(part.json, null, 2), "json");
    case "image":
    case "audio":
      return `[${part.type}: ${part.path}]`;
    case "status":
      return `*${part.label}${part.detail ? `: ${part.detail}` : ""}*`;
    case "resource":
      return part.text ?? part.uri;
  }
}

/** Longer than any fence inside. */
function fenced(text: string, language = ""): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`;
}

const STYLE =
  "body{font:15px/1.6 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#1d1d1b;background:#fff}pre{overflow:auto;padding:.8rem;border-radius:8px;background:#f5f5f2;font-size:13px}code{font-family:ui-monospace,monospace}blockquote{color:#61615c;border-left:3px solid #d8d8d3;margin-left:0;padding-left:1rem}h2{font-size:1rem;margin-top:2rem;color:#61615c}table{border-collapse:collapse}td,th{border:1px solid #d8d8d3;padding:.2rem .6rem}@media(prefers-color-scheme:dark){body{color:#ececea;background:#171716}pre{background:#222}h2,blockquote{color:#a3a39c}}";

/** The Markdown rendered as the page renders it: no HTML of an agent, no scripts, no images from elsewhere. */
export async function htmlOf(row: Session): Promise<string> {
  const [markdown, { renderMarkdown }] = await Promise.all([markdownOf(row), import("./render-markdown.tsx")]);
  const title = escaped(row.title ?? row.session_id);
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"><title>${title}</title><style>${STYLE}</style></head><body>${renderMarkdown(markdown)}</body></html>\n`;
}

const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
