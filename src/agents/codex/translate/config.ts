// Configuration facts of a thread, both ways: Codex policies as our permission modes, and our modes as Codex parameters.
import type { Draft } from "../../../schema/draft.ts";
import type { ConfigChanged, ModelInfo, PermissionMode } from "../../../schema/event-data.ts";
import { type JsonRecord, own, rec, records, str, timeOf, toJson } from "../../json.ts";
import type { Thread } from "./thread.ts";

/** `approvalPolicy` and sandbox of each permission mode. `on-failure` is gone since 0.166. */
export const PERMISSION_MODES: Record<PermissionMode, { approvalPolicy: string; sandbox: string; sandboxPolicy: JsonRecord }> = {
  // Everything but commands known to be harmless is asked for, and so is every edit.
  default: { approvalPolicy: "untrusted", sandbox: "workspace-write", sandboxPolicy: { type: "workspaceWrite" } },
  plan: { approvalPolicy: "on-request", sandbox: "read-only", sandboxPolicy: { type: "readOnly" } },
  // As default; the connection accepts edits itself. `on-request` would run every command in the sandbox unasked.
  accept_edits: { approvalPolicy: "untrusted", sandbox: "workspace-write", sandboxPolicy: { type: "workspaceWrite" } },
  bypass: { approvalPolicy: "never", sandbox: "danger-full-access", sandboxPolicy: { type: "dangerFullAccess" } },
};

const SANDBOX_NAMES: Record<string, string> = {
  readOnly: "read-only",
  workspaceWrite: "workspace-write",
  dangerFullAccess: "danger-full-access",
  externalSandbox: "external-sandbox",
};

/** The permission mode these policies are, or the policies themselves where we have no word for them. */
export function permissionMode(approval: unknown, sandbox: unknown, agentMode: string | undefined): string {
  if (agentMode === "plan") return "plan";
  const policy = str(approval) ?? "granular";
  const box = own(SANDBOX_NAMES, str(rec(sandbox).type) ?? "") ?? str(sandbox) ?? "unknown";
  if (policy === "untrusted" || (policy === "on-request" && box === "read-only")) return "default";
  if (policy === "on-request" && box === "workspace-write") return "accept_edits";
  if (policy === "never" && box === "danger-full-access") return "bypass";
  return `${policy}/${box}`;
}

/** The policies a request of ours asks for, as far as it names any. */
export function askedPolicies({ approvalPolicy, sandbox, sandboxPolicy, collaborationMode }: JsonRecord): JsonRecord {
  const box = sandboxPolicy ?? sandbox;
  return {
    ...(approvalPolicy === undefined ? {} : { approvalPolicy }),
    ...(box === undefined ? {} : { sandbox: box }),
    ...(collaborationMode === undefined ? {} : { collaborationMode }),
  };
}

const modeOf = (value: JsonRecord): string =>
  permissionMode(value.approvalPolicy, value.sandboxPolicy ?? value.sandbox, str(rec(value.collaborationMode).mode));

/** What the session asked for is no news: two of its modes have the same policies. Only other policies are reported. */
export function settingsChanged(thread: Thread, value: JsonRecord): Draft[] {
  const { permission_mode, ...rest } = settingsOf(value);
  const asked = thread.policies.approvalPolicy !== undefined && modeOf(thread.policies) === permission_mode;
  return configChanged(thread, asked || permission_mode === undefined ? rest : { ...rest, permission_mode });
}

/** The facts of a thread/start, resume or fork answer, or of `threadSettings`. */
export function settingsOf(value: JsonRecord): ConfigChanged {
  const agentMode = str(rec(value.collaborationMode).mode);
  const model = str(value.model);
  const effort = str(value.effort ?? value.reasoningEffort);
  const sandbox = value.sandboxPolicy ?? value.sandbox;
  return {
    ...(model === undefined ? {} : { model }),
    ...(effort === undefined ? {} : { variant: effort }),
    ...(agentMode === undefined ? {} : { agent_mode: agentMode }),
    ...(value.approvalPolicy === undefined ? {} : { permission_mode: permissionMode(value.approvalPolicy, sandbox, agentMode) }),
  };
}

/** Says only what is new. */
export function configChanged(thread: Thread, config: ConfigChanged): Draft[] {
  const news = Object.entries(config).filter(([field, value]) => {
    const text = toJson(value);
    if (thread.config.get(field) === text) return false;
    thread.config.set(field, text);
    return true;
  });
  return news.length === 0 ? [] : [{ do: "event", type: "config.changed", data: Object.fromEntries(news) }];
}

export function mcpStatus(thread: Thread, params: JsonRecord): Draft[] {
  const name = str(params.name) ?? "";
  const error = str(params.error);
  thread.mcpServers.set(name, { name, status: str(params.status) ?? "unknown", ...(error ? { error } : {}) });
  return [{ do: "event", type: "config.changed", data: { mcp_servers: [...thread.mcpServers.values()] } }];
}

/** `model/list`. */
export const modelsOf = (result: JsonRecord): ModelInfo[] =>
  records(result.data)
    .filter((model) => model.hidden !== true)
    .map((model) => ({
      id: str(model.id) ?? str(model.model) ?? "",
      ...(str(model.displayName) ? { name: str(model.displayName) ?? "" } : {}),
      ...(str(model.description) ? { description: str(model.description) ?? "" } : {}),
      variants: records(model.supportedReasoningEfforts).flatMap((effort) => str(effort.reasoningEffort) ?? []),
      is_default: model.isDefault === true,
    }));

/** Commands the connection itself understands. */
const OWN_COMMANDS = [
  { name: "compact", description: "Summarise the conversation to free context" },
  {
    name: "review",
    description: "Review uncommitted changes, a branch or a commit",
    input_hint: "[base BRANCH | commit SHA | instructions]",
  },
];

/** `skills/list`: what can be called by `$name` in a message. */
export function skillsOf(result: JsonRecord): Draft[] {
  const skills = records(result.data)
    .flatMap((entry) => records(entry.skills))
    .filter((skill) => skill.enabled !== false);
  const commands = skills.map((skill) => ({
    name: `$${str(skill.name) ?? ""}`,
    ...(str(skill.description) ? { description: str(skill.description) ?? "" } : {}),
  }));
  const roots = [...new Set(skills.flatMap((skill) => str(skill.path)?.replace(/\/[^/]+\/SKILL\.md$/, "") ?? []))];
  const faults = records(result.data).flatMap((entry) => records(entry.errors));
  return [
    { do: "event", type: "config.changed", data: { commands: [...OWN_COMMANDS, ...commands] } },
    { do: "event", type: "skill.catalog_updated", data: { count: skills.length, roots } },
    ...faults.map(
      (fault): Draft => ({
        do: "event",
        type: "skill.warning",
        data: { kind: "load_failed", detail: str(fault.message) ?? toJson(fault) },
      }),
    ),
  ];
}

/** `account/rateLimits/updated`: sent after every response, mostly with nothing in it. */
export function limits(params: JsonRecord): Draft[] {
  const snapshot = rec(params.rateLimits);
  const name = str(snapshot.limitName) ?? str(snapshot.limitId) ?? "codex";
  const windows = ["primary", "secondary"].flatMap((which) => {
    const window = snapshot[which];
    if (typeof window !== "object" || window === null) return [];
    const { usedPercent, resetsAt, windowDurationMins } = rec(window);
    const length = typeof windowDurationMins === "number" ? ` ${windowDurationMins}m` : "";
    return [
      {
        name: `${name} ${which}${length}`,
        ...(typeof usedPercent === "number" ? { used_percent: usedPercent } : {}),
        ...timeOf("resets_at", typeof resetsAt === "number" ? resetsAt * 1000 : undefined),
        ...(str(snapshot.rateLimitReachedType) ? { status: "reached" } : {}),
      },
    ];
  });
  const credits = rec(snapshot.credits);
  if (credits.hasCredits !== undefined)
    windows.push({
      name: `${name} credits`,
      status: credits.unlimited === true ? "unlimited" : `balance ${str(credits.balance) ?? "unknown"}`,
    });
  return windows.length === 0 ? [] : [{ do: "event", type: "limits.updated", data: { windows } }];
}
