/** What the sameness rules make of a translator's drafts before they are written. Pure functions: they know one native message and nothing else. */
import type { Draft, DraftPart, ItemKey, PlainEventDraft } from "../schema/draft.ts";
import type { EventDataOf } from "../schema/event-data.ts";
import { snakeKeys, snakeRecord } from "../schema/snake-case.ts";

/**
 * The drafts of one native message as they are reported. U5: an item that starts and ends with one message was never announced, so its start is the
 * daemon's. U3: text that a message of the agent ends together with its turn, because that was cut, failed. `growing`: it is an answer that was
 * still being written.
 */
export function asTold(drafts: readonly Draft[], growing: (key: ItemKey) => boolean): readonly Draft[] {
  // One draft, as most messages make, has nothing to be reported together with.
  if (drafts.length < 2) return drafts;
  const ordered = authFirst(drafts);
  const ended = new Set(drafts.flatMap((draft) => (draft.do === "item.complete" ? [draft.key] : [])));
  if (ended.size === 0) return ordered;
  return ordered.map((draft, at): Draft => {
    if (draft.do === "item.start" && ended.has(draft.item.key)) return { ...draft, synthetic: true };
    return draft.do === "item.complete" && growing(draft.key) && isCut(ordered.slice(at))
      ? { ...draft, status: "failed" }
      : draft;
  });
}

/** One message may end several turns: the next end counts. */
function isCut(rest: readonly Draft[]): boolean {
  const end = rest.find((draft) => draft.do === "turn.end");
  return end?.stop_reason === "interrupted" || end?.stop_reason === "error";
}

/** U14: what is reported about the sign-in stands before the error that it explains. */
function authFirst(drafts: readonly Draft[]): readonly Draft[] {
  const at = drafts.findIndex((draft) => draft.do === "error" && draft.error.code === "provider_auth");
  const isAuth = (draft: Draft): boolean => draft.do === "event" && draft.type === "auth.status";
  const rest = at < 0 ? [] : drafts.slice(at);
  if (!rest.some(isAuth)) return drafts;
  return [...drafts.slice(0, at), ...rest.filter(isAuth), ...rest.filter((draft) => !isAuth(draft))];
}

/** The calls whose results are complete with these drafts. */
export const resultsIn = (drafts: readonly Draft[]): ReadonlySet<string> =>
  new Set(
    drafts
      .flatMap((draft) => (draft.do === "item.complete" ? draft.content : draft.do === "item.add" ? draft.item.content : []))
      .flatMap((part) => (part?.type === "tool_result" ? [part.call_id] : [])),
  );

/** Metadata and details have snake_case keys, as all data has (U15). */
export function withSnakeKeys(draft: PlainEventDraft): PlainEventDraft {
  if (draft.type === "config.changed" && draft.data.mcp_servers)
    return { ...draft, data: { ...draft.data, mcp_servers: draft.data.mcp_servers.map(inOneWord) } };
  if (draft.type === "agent.notice")
    return draft.data.detail === undefined ? draft : { ...draft, data: { ...draft.data, detail: snakeKeys(draft.data.detail) } };
  if (!("metadata" in draft.data) || draft.data.metadata === undefined) return draft;
  const metadata = snakeRecord(draft.data.metadata);
  return { ...draft, data: { ...draft.data, metadata } } as PlainEventDraft;
}

/** States of MCP servers in the same words from every agent; one we do not know stays as it is. */
const MCP_STATES: Readonly<Record<string, string>> = {
  ready: "connected",
  running: "connected",
  pending: "starting",
  connecting: "starting",
  error: "failed",
  "needs-auth": "needs_auth",
  needs_authentication: "needs_auth",
};

const inOneWord = <S extends { status: string }>(server: S): S => ({
  ...server,
  status: Object.hasOwn(MCP_STATES, server.status) ? (MCP_STATES[server.status] ?? server.status) : server.status,
});

/** The skill that a call of a skill tool names; undefined while its arguments are not complete, and for any other tool. */
export function skillOf(parts: readonly DraftPart[]): Pick<EventDataOf["skill.invoked"], "name" | "args"> | undefined {
  for (const part of parts) {
    if (part.type !== "tool_call" || (part.tool_kind !== "skill" && !isOurTool(part))) continue;
    const { skill, name = skill, command = name, args } = argumentsOf(part.arguments);
    if (typeof command === "string" && command !== "") return { name: command, ...(typeof args === "string" ? { args } : {}) };
  }
  return undefined;
}

/** Calls of the daemon's own tool for skills. */
export const skillCalls = (parts: readonly DraftPart[]): string[] =>
  parts.flatMap((part) => (part.type === "tool_call" && isOurTool(part) ? [part.call_id] : []));

/** Some agents do not show what their calls ask for: then the answer of the daemon's own tool names the skill. */
export function skillsGiven(parts: readonly DraftPart[]): { call_id: string; name: string }[] {
  return parts.flatMap((part) => {
    const name =
      part.type === "tool_result" ? /<skill_content name="([^"]{1,64})"/.exec(part.output.slice(0, 200))?.[1] : undefined;
    return part.type !== "tool_result" || name === undefined ? [] : [{ call_id: part.call_id, name }];
  });
}

/** The tool of the daemon's own MCP server for skills, however the agent spells server and tool. */
const isOurTool = ({ name, title = "" }: { name: string; title?: string }): boolean =>
  /dragoman_skills/.test(name + title) && /use_skill/.test(name + title);

function argumentsOf(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
