// What a finished tool call left behind: its text, exit code, file changes and media, out of the many shapes agents use.
import type { DraftPart } from "../../../schema/draft.ts";
import { arr, int, isRecord, type JsonRecord, num, rec, records, str, toJson } from "../../json.ts";
import { unifiedDiff } from "../../unified-diff.ts";
import { blockPart, blockParts } from "./blocks.ts";
import type { Quirks } from "./quirks.ts";
import type { Call, SessionState, Terminal } from "./session-state.ts";

/** What a call left behind. `told`: the agent says that it failed; a command with an exit code above 0 failed too, whatever the agent calls it. */
export function outcomeOf(
  state: SessionState,
  quirks: Quirks,
  call: Call,
  told: { failed: boolean; isCommand: boolean },
): { failed: boolean; content: DraftPart[] } {
  const { text, trailerExit } = outputText(state, quirks, call);
  const signalled = told.isCommand && endedBySignal(state, call);
  const said = call.exitCode ?? terminalExit(state, call)?.code ?? rawExitCode(call.raw) ?? trailerExit;
  const exit = said ?? (signalled ? null : undefined);
  const stopped = (exit ?? 0) > 0 || quirks.stoppedOutput?.test(text) === true;
  const failed = told.failed || signalled || (told.isCommand && stopped);
  const duration = rawDuration(call.raw) ?? rawDuration(call.response);
  const result: DraftPart = {
    type: "tool_result",
    call_id: call.id,
    output: text,
    ...(failed ? { is_error: true } : {}),
    ...(exit === undefined ? {} : { exit_code: exit }),
    ...(duration === undefined ? {} : { duration_ms: duration }),
  };
  return { failed, content: [result, ...(failed ? [] : fileParts(call.content)), ...mediaParts(call)] };
}

/** It did not come to its end, and has no exit code: a signal ended its terminal. opencode 1.18 has null in the place of the code. */
function endedBySignal(state: SessionState, call: Call): boolean {
  const exit = terminalExit(state, call);
  return (exit?.code === null && exit.signal !== null) || rec(rec(call.raw).metadata).exit === null;
}

function outputText(state: SessionState, quirks: Quirks, call: Call): { text: string; trailerExit: number | undefined } {
  const terminal = call.terminals.map((id) => state.terminals.get(id)?.output ?? "").join("");
  if (terminal !== "") return { text: terminal, trailerExit: undefined };
  const shown = call.contentIsOutput ? contentText(call.content) : "";
  const raw = rawText(call.raw);
  const text = (quirks.outputFrom === "raw" ? raw || shown : shown || raw) || unusualText(call);
  const trailer = quirks.outputTrailer?.exec(text);
  if (!trailer) return { text, trailerExit: undefined };
  return { text: text.slice(0, trailer.index), trailerExit: Number(trailer[1]) };
}

/** Text blocks of tool content, one after the other. */
export function contentText(content: JsonRecord[]): string {
  return content
    .filter((each) => each.type === "content")
    .map((each) => str(rec(each.content).text))
    .filter((text) => text !== undefined)
    .join("\n");
}

const TEXT_FIELDS = ["formatted_output", "aggregated_output", "output", "text", "message", "details"] as const;

/** The plain text in rawOutput: a string, blocks, or an object with one of the usual fields. */
export function rawText(raw: unknown): string {
  if (typeof raw === "string") return raw;
  if (Array.isArray(raw)) return blocksText(raw);
  if (!isRecord(raw)) return "";
  for (const field of TEXT_FIELDS) {
    const text = str(raw[field]);
    if (text) return text;
  }
  const streams = `${str(raw.stdout) ?? ""}${str(raw.stderr) ?? ""}`;
  if (streams !== "") return streams;
  if (typeof raw.content === "string") return raw.content;
  const blocks = rawBlocks(raw);
  if (blocks.length > 0) return blocksText(blocks);
  if (raw.error !== undefined && raw.error !== null) return str(raw.error) ?? str(rec(raw.error).message) ?? toJson(raw.error);
  return "";
}

/** A result that says nothing in any of the usual ways is shown as it is. */
function unusualText(call: Call): string {
  const { raw, content } = call;
  if (content.some((each) => each.type !== "content" || rec(each.content).type !== "text")) return "";
  if (raw === undefined || raw === null || typeof raw === "string") return "";
  if (!isRecord(raw)) return Array.isArray(raw) && (raw.length === 0 || raw.some(isBlock)) ? "" : toJson(raw);
  const fields = Object.keys(raw);
  return fields.length === 0 || fields.some((field) => USUAL.has(field)) ? "" : toJson(raw);
}

const isBlock = (value: unknown): boolean => isRecord(value) && blockPart(value) !== null;

/** Fields of results that may be empty, and facts that are reported in other ways. */
const USUAL: ReadonlySet<string> = new Set([
  ...TEXT_FIELDS,
  "stdout",
  "stderr",
  "content",
  "contents",
  "result",
  "exit_code",
  "exitCode",
  "metadata",
  "duration",
  "durationMs",
  "duration_ms",
]);

const blocksText = (blocks: unknown[]): string =>
  records(blocks)
    .map((block) => str(block.text))
    .filter((text) => text !== undefined)
    .join("\n");

/** MCP results: zed `{content:[…]}`, codex-acp 2.6 `{result:{content:[…]}}`. */
const rawBlocks = (raw: unknown): unknown[] => {
  const result = rec(raw);
  return Array.isArray(result.content) ? result.content : arr(rec(result.result).content);
};

function rawExitCode(raw: unknown): number | undefined {
  const result = rec(raw);
  const direct = int(result.exit_code) ?? int(result.exitCode) ?? int(rec(result.metadata).exit);
  return (
    direct ??
    records(result.contents)
      .map((each) => int(each.exitCode))
      .find((code) => code !== undefined)
  );
}

function rawDuration(raw: unknown): number | undefined {
  const result = rec(raw);
  const spent = rec(result.duration);
  const secs = num(spent.secs);
  if (secs !== undefined) return Math.round(secs * 1000 + (num(spent.nanos) ?? 0) / 1e6);
  return int(result.durationMs) ?? int(result.duration_ms) ?? int(result.totalDurationMs);
}

function terminalExit(state: SessionState, call: Call): Terminal["exit"] | undefined {
  return call.terminals.map((id) => state.terminals.get(id)?.exit).findLast((exit) => exit !== null && exit !== undefined);
}

/** File changes: v1 has the texts before and after, v2 a git patch with a list of changes. */
export function fileParts(content: JsonRecord[]): DraftPart[] {
  return content
    .filter((each) => each.type === "diff")
    .flatMap((diff) => (Array.isArray(diff.changes) ? patchParts(diff) : textsPart(diff)));
}

function textsPart(diff: JsonRecord): DraftPart[] {
  const path = str(diff.path);
  if (path === undefined) return [];
  const kind = str(rec(diff._meta).kind);
  const before = str(diff.oldText) ?? null;
  const fresh = kind === "add" || before === null || (before === "" && kind !== "modify");
  const after = kind === "delete" ? null : (str(diff.newText) ?? "");
  return [{ type: "file_ref", path, action: fresh ? "write" : "patch", diff: unifiedDiff(path, fresh ? null : before, after) }];
}

function patchParts(diff: JsonRecord): DraftPart[] {
  const patch = str(rec(diff.patch).text) ?? null;
  const changes = records(diff.changes);
  const sections = patch === null ? [] : patch.split(/^(?=diff --git )/m).filter((section) => section.trim() !== "");
  if (changes.length === 0)
    return sections.map((section) => ({
      type: "file_ref",
      path: pathOf(section),
      action: "patch",
      diff: section,
    }));
  const inOrder = sections.length === changes.length;
  return changes.map((change, index): DraftPart => {
    const path = str(change.path) ?? "";
    const own = sections.find((section) => isAbout(section, path)) ?? (inOrder ? sections[index] : undefined);
    return {
      type: "file_ref",
      path,
      action: change.operation === "add" || change.operation === "copy" ? "write" : "patch",
      diff: changes.length === 1 ? patch : (own ?? null),
    };
  });
}

/** Of a file that is gone, the old name. */
function pathOf(section: string): string {
  const names = [/^\+\+\+ (?:b\/)?([^\t\r\n]+)/m, /^--- (?:a\/)?([^\t\r\n]+)/m].map((line) => line.exec(section)?.[1] ?? "");
  return names.find((name) => name !== "" && name !== "/dev/null") ?? "";
}

/** Headers name a file after `a/` or `b/`, or as it is, also without the slash of an absolute path. */
function isAbout(section: string, path: string): boolean {
  const head = section.split(/^@@/m, 1)[0] ?? "";
  const named = [...head.matchAll(/^(?:---|\+\+\+|rename to|copy to) ([^\t\r\n]+)/gm)].map((match) => match[1] ?? "");
  const [first = ""] = head.split("\n", 1);
  const bare = path.replace(/^\//, "");
  return (
    first.endsWith(` b/${bare}`) ||
    first.endsWith(` ${path}`) ||
    named.some((name) => [path, bare, `a/${bare}`, `b/${bare}`].includes(name))
  );
}

/** Images, audio and resources beside the text; codex-acp 2.6 has them only in rawOutput. What nobody knows is kept as it is. */
function mediaParts(call: Call): DraftPart[] {
  const shown = call.content.filter((each) => each.type === "content").map((each) => rec(each.content));
  const blocks = shown.some((block) => block.type !== "text") ? shown : [...shown, ...records(rawBlocks(call.raw))];
  const beside = blockParts(blocks.filter((block) => block.type !== "text"));
  return [...beside, ...call.content.filter(isStrange).map((json): DraftPart => ({ type: "json", json }))];
}

const isStrange = ({ type }: JsonRecord): boolean => type !== "content" && type !== "diff" && type !== "terminal";

/** What in the content of a call is not understood. */
export function strangeContent(content: unknown): string[] {
  if ((content ?? null) === null) return [];
  return Array.isArray(content) ? content.flatMap(strangeIn) : ["tool content that is no list"];
}

function strangeIn(each: unknown): string[] {
  if (!isRecord(each)) return ["tool content that is no object"];
  const block = rec(each.content);
  switch (each.type) {
    case "content":
      return blockPart(block) === null ? [`content block ${str(block.type) ?? "without type"}`] : [];
    case "diff":
      return str(each.path) === undefined && !Array.isArray(each.changes) ? ["diff without a path"] : [];
    case "terminal":
      return str(each.terminalId) === undefined ? ["terminal without an id"] : [];
    default:
      return [`tool content ${str(each.type) ?? "without type"}`];
  }
}
