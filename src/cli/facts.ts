/** One thing for a person: names on the left, what is known on the right, wrapped to the screen. Programs get JSON instead (`details` of command.ts). */
import type { AgentInfo, Session } from "../schema/session.ts";
import { exactLine } from "./output.ts";
import { ago, type Paint } from "./style.ts";
import { width, wrap } from "./text-layout.ts";

/** A fact without a value is left out. */
export type Fact = readonly [name: string, value: string | null | undefined];

export function factLines(facts: readonly Fact[], columns: number, paint: Paint): string[] {
  const known = facts.flatMap(([name, value]) => (value ? [[name, exactLine(value)] as const] : []));
  const left = Math.max(0, ...known.map(([name]) => width(name))) + 2;
  return known.flatMap(([name, value]) =>
    wrap(`${paint.dim(name)}${" ".repeat(left - width(name))}${value}`, columns, " ".repeat(left)),
  );
}

/** What `dragoman show` says of a session. */
export function sessionFacts(session: Session, requests: readonly string[], files: readonly string[]): Fact[] {
  const { usage } = session;
  return [
    ["Title", session.title],
    ["Session", session.session_id],
    ["Agent", [session.agent, session.agent_version, session.model, session.variant].filter(Boolean).join(" ")],
    ["Status", [session.status, session.status_detail, session.ended?.reason].filter(Boolean).join(", ")],
    ["Last error", session.last_error && `${session.last_error.message} (${session.last_error.code})`],
    ["Waiting for you", requests.join("; ")],
    ["Directory", `${session.directory} (${session.trust})`],
    ["Permissions", session.permission_mode],
    ["Mode", session.agent_mode],
    ["Queue", session.queued > 0 ? `${session.queued} messages` : null],
    ["Usage", usage && `${usage.input_tokens} tokens in, ${usage.output_tokens} out${costOf(usage.cost_usd)}`],
    ["Tags", session.tags.join(", ")],
    ["Kept", [session.pinned && "pinned", session.archived && "archived"].filter(Boolean).join(", ")],
    ["Forked from", session.forked_from],
    ["Part of", session.parent_session_id],
    ["Agent loads", files.join(", ")],
    ["Events", `${session.last_sequence}, the last ${ago(session.updated_at)} ago`],
  ];
}

const costOf = (usd: number | undefined): string => (usd === undefined ? "" : `, $${usd.toFixed(2)}`);

/** What `dragoman agents <agent>` says of an agent. */
export const agentFacts = (agent: AgentInfo): Fact[] => [
  ["Agent", `${agent.name} (${agent.agent})`],
  ["State", agent.installed ? "installed" : "not installed"],
  ["Version", agent.version],
  ["Program", agent.path],
  ["Signed in", agent.signed_in === null ? null : agent.signed_in ? "yes" : "no"],
  ["Advice", agent.advice],
  ["Verified", agent.verified_at],
  ["Can", abilities(agent, true)],
  ["Cannot", abilities(agent, false)],
];

const abilities = ({ capabilities }: AgentInfo, able: boolean): string =>
  Object.entries(capabilities)
    .filter(([, value]) => (value !== false && value !== null) === able)
    .map(([name]) => name.replaceAll("_", " "))
    .join(", ");
