// Server requests that ask for permission: what a person is shown, the options, and the exact answer each option stands for.
import type { Draft } from "../../../schema/draft.ts";
import type { PermissionOption } from "../../../schema/event-data.ts";
import type { PermissionReply } from "../../contract.ts";
import { asText, isRecord, type JsonRecord, rec, records, str, toJson } from "../../json.ts";
import { answerFor, type Choice, type ChoiceTable, choice, choiceTable, optionOf, resolutionOf } from "../../kit/choices.ts";
import { changePaths, changesDiff } from "./parts.ts";
import type { NativeItem, Thread } from "./thread.ts";
import { innerCommand } from "./tool-kinds.ts";
import type { RpcId } from "./wire.ts";

/** An option and the `result` that says it to the server. Not offered is what would write into the person's own configuration. */
type CodexChoice = Choice<JsonRecord>;

/** Travels with the request and comes back with the reply. */
export type NativePermission = { request_id: RpcId; thread_id: string; choices: ChoiceTable<JsonRecord> };

type Ask = {
  action: string;
  tool_name: string;
  input: unknown;
  choices: CodexChoice[];
  item?: string | null;
  call_id?: string | null;
  reason?: string | undefined;
  diff?: string;
  paths?: string[];
};

export const ACCEPT = choice("accept", "Allow once", "allow_once", { decision: "accept" });
const ACCEPT_SESSION = choice("acceptForSession", "Allow for this session", "allow_always", { decision: "acceptForSession" });
const DECLINE = choice("decline", "Decline and let the agent go on", "reject_once", { decision: "decline" });
const CANCEL = choice("cancel", "Decline and stop the turn", "reject_once", { decision: "cancel" });

function commandAsk(thread: Thread, params: JsonRecord): Ask {
  const itemId = str(params.itemId) ?? "";
  const key = thread.keyOf(str(params.turnId) ?? "", itemId);
  const { shown, callId = itemId } = thread.open.get(key) ?? {};
  const command = str(params.command) ?? str(shown?.command) ?? "";
  const network = rec(params.networkApprovalContext);
  const host = str(network.host);
  const verb = params.kind === "writeStdin" ? "Send input" : host ? `Connect to ${host} for` : "Run";
  const amendment = params.proposedExecpolicyAmendment;
  const choices: CodexChoice[] = [ACCEPT, ACCEPT_SESSION];
  // codex 0.166 lists only some decisions as available, and takes the others all the same.
  if (Array.isArray(amendment) && amendment.length > 0)
    choices.push({
      ...choice(
        "acceptWithExecpolicyAmendment",
        `Always allow commands that begin with: ${amendment.join(" ")}`,
        "allow_always",
        {
          decision: { acceptWithExecpolicyAmendment: { execpolicy_amendment: amendment } },
        },
      ),
      unoffered: true,
    });
  for (const rule of records(params.proposedNetworkPolicyAmendments)) choices.push(networkChoice(rule));
  choices.push(DECLINE, CANCEL);
  return {
    action: `${verb}: ${innerCommand(command)}`,
    tool_name: "commandExecution",
    input: {
      command,
      cwd: params.cwd ?? null,
      ...(params.additionalPermissions ? { permissions: params.additionalPermissions } : {}),
    },
    choices,
    item: key,
    call_id: callId,
    reason: str(params.reason),
  };
}

function networkChoice(rule: JsonRecord): CodexChoice {
  const host = str(rule.host) ?? "this host";
  const allow = rule.action !== "deny";
  const option = choice(
    `applyNetworkPolicyAmendment:${str(rule.action) ?? "allow"}:${host}`,
    allow ? `Always allow ${host}` : `Always block ${host}`,
    allow ? "allow_always" : "reject_always",
    { decision: { applyNetworkPolicyAmendment: { network_policy_amendment: rule } } },
  );
  return { ...option, unoffered: true };
}

/** The request has no diff: it stands in the item that was started before. */
function fileAsk(thread: Thread, params: JsonRecord): Ask {
  const itemId = str(params.itemId) ?? "";
  const key = thread.keyOf(str(params.turnId) ?? "", itemId);
  const { shown, callId = itemId } = thread.open.get(key) ?? {};
  const changes = records(shown?.changes);
  const paths = changePaths(changes);
  const root = str(params.grantRoot);
  return {
    action: `Change ${paths.length > 0 ? paths.join(", ") : "files"}`,
    tool_name: "fileChange",
    input: { changes, ...(root ? { grant_root: root } : {}) },
    choices: [ACCEPT, ACCEPT_SESSION, DECLINE, CANCEL],
    item: key,
    call_id: callId,
    reason: str(params.reason) ?? (root ? `Write access to ${root}` : undefined),
    diff: changesDiff(changes),
    paths,
  };
}

/** An entry repeats a path of the lists, or says what they cannot: a pattern, a place that has a name. */
function entryText({ access, path }: JsonRecord): string {
  const { path: place = path } = rec(path);
  return `${str(access) ?? "access"} ${asText(place)}`;
}

function accessAsk(params: JsonRecord): Ask {
  const permissions = rec(params.permissions);
  const files = rec(permissions.fileSystem);
  const wanted = new Set([
    ...(permissions.network ? ["network"] : []),
    ...["read", "write"].flatMap((access) =>
      Array.isArray(files[access]) ? files[access].map((path) => `${access} ${asText(path)}`) : [],
    ),
    ...records(files.entries).map(entryText),
  ]);
  const grant = (scope: string): JsonRecord => ({ permissions, scope });
  return {
    action: `Grant access: ${[...wanted].join(", ") || toJson(permissions)}`,
    tool_name: "request_permissions",
    input: permissions,
    choices: [
      choice("turn", "Allow for this turn", "allow_once", grant("turn")),
      choice("session", "Allow for this session", "allow_always", grant("session")),
      choice("deny", "Deny", "reject_once", { permissions: {}, scope: "turn" }),
    ],
    call_id: str(params.itemId) ?? null,
    reason: str(params.reason),
  };
}

const TOOL_IN_MESSAGE = /run tool "([^"]+)"/;

/**
 * The request does not say which call it is about, and several of one server may run at once: the one with this tool and these arguments, and of
 * two that are the same, the one nobody was asked about.
 */
function mcpCall(thread: Thread, server: string, tool: string | undefined, params: unknown): NativeItem | undefined {
  const given = toJson(params ?? {});
  const likeness = ({ shown, asked }: NativeItem): number =>
    (shown.tool === tool ? 4 : 0) + (toJson(shown.arguments ?? {}) === given ? 2 : 0) + (asked ? 0 : 1);
  const calls = [...thread.open.values()].filter((item) => item.type === "mcpToolCall" && item.shown.server === server);
  // Of equals the newest: it was begun just before.
  return calls.reduce<NativeItem | undefined>((best, call) => (best && likeness(best) > likeness(call) ? best : call), undefined);
}

/** codex 0.166 asks for MCP tools through an elicitation with an empty form. */
function mcpAsk(thread: Thread, params: JsonRecord): Ask {
  const meta = rec(params._meta);
  const server = str(params.serverName) ?? "";
  const message = str(params.message) ?? "Allow the MCP tool?";
  const named = TOOL_IN_MESSAGE.exec(message)?.[1];
  const call = mcpCall(thread, server, named, meta.tool_params);
  if (call) call.asked = true;
  const tool = str(call?.shown.tool) ?? named ?? "tool";
  const accept = (persist: string | null): JsonRecord => ({
    action: "accept",
    content: {},
    _meta: persist === null ? null : { persist },
  });
  const persist = Array.isArray(meta.persist) ? meta.persist : [meta.persist];
  const choices: CodexChoice[] = [choice("accept", "Allow once", "allow_once", accept(null))];
  if (persist.includes("session")) choices.push(choice("session", "Allow for this session", "allow_always", accept("session")));
  if (persist.includes("always"))
    choices.push({ ...choice("always", "Always allow", "allow_always", accept("always")), unoffered: true });
  choices.push(
    choice("decline", "Decline", "reject_once", { action: "decline", content: null, _meta: null }),
    choice("cancel", "Decline and stop", "reject_once", { action: "cancel", content: null, _meta: null }),
  );
  return {
    action: message,
    tool_name: `mcp__${server}__${tool}`,
    input: meta.tool_params ?? {},
    choices,
    item: call?.key ?? null,
    call_id: call?.callId ?? null,
    reason: str(meta.tool_description),
  };
}

/** In the schema only; the app-server itself asks with the requests above. */
function legacyAsk(method: string, params: JsonRecord): Ask {
  const command = Array.isArray(params.command) ? params.command.join(" ") : "";
  const paths = Object.keys(rec(params.fileChanges));
  const patch = method === "applyPatchApproval";
  return {
    action: patch ? `Change ${paths.join(", ") || "files"}` : `Run: ${command}`,
    tool_name: patch ? "fileChange" : "commandExecution",
    input: patch ? params.fileChanges : { command: params.command, cwd: params.cwd },
    choices: [
      choice("approved", "Allow once", "allow_once", { decision: "approved" }),
      choice("approved_for_session", "Allow for this session", "allow_always", { decision: "approved_for_session" }),
      choice("denied", "Decline", "reject_once", { decision: { denied: { rejection: "declined" } } }),
      choice("abort", "Decline and stop the turn", "reject_once", { decision: "abort" }),
    ],
    call_id: str(params.callId) ?? null,
    reason: str(params.reason),
    ...(patch ? { paths } : {}),
  };
}

export const isMcpApproval = (params: JsonRecord): boolean => rec(params._meta).codex_approval_kind === "mcp_tool_call";

export type PermissionDraft = Omit<Extract<Draft, { do: "permission.request" }>, "native"> & { native: NativePermission };

/** The draft for a server request, or undefined when it does not ask for permission. */
export function permissionRequest(
  thread: Thread,
  id: RpcId,
  method: string,
  params: JsonRecord,
  key: string,
): PermissionDraft | undefined {
  const ask = askOf(thread, method, params);
  if (!ask) return undefined;
  const { choices, reason, item, call_id, ...shown } = ask;
  const table = choiceTable(choices);
  const native: NativePermission = { request_id: id, thread_id: thread.id, choices: table };
  return {
    do: "permission.request",
    key,
    ...shown,
    ...(item ? { item } : {}),
    ...(call_id ? { call_id } : {}),
    ...(reason ? { reason } : {}),
    options: table.offered,
    native,
  };
}

function askOf(thread: Thread, method: string, params: JsonRecord): Ask | undefined {
  switch (method) {
    case "item/commandExecution/requestApproval":
      return commandAsk(thread, params);
    case "item/fileChange/requestApproval":
      return fileAsk(thread, params);
    case "item/permissions/requestApproval":
      return accessAsk(params);
    case "mcpServer/elicitation/request":
      return isMcpApproval(params) ? mcpAsk(thread, params) : undefined;
    case "applyPatchApproval":
    case "execCommandApproval":
      return legacyAsk(method, params);
    default:
      return undefined;
  }
}

/** The result to send for a person's reply. */
export const permissionResult = (native: NativePermission, reply: PermissionReply): JsonRecord =>
  answerFor(native.choices, reply) ?? {};

/** What an answer that went over the wire meant. Anything we do not know was an invalid decision, which the server takes as a failure. */
export function permissionOutcome({ choices }: NativePermission, result: unknown): ReturnType<typeof resolutionOf> {
  const known = [...choices.offered, ...choices.unoffered];
  const loose = looseOption(known, result);
  return resolutionOf(optionOf(choices, result) ?? known.find(({ id }) => id === loose));
}

/** Answers of other clients may carry more or fewer members than ours. */
function looseOption(options: PermissionOption[], result: unknown): string | undefined {
  const { decision, action, permissions, scope, _meta } = rec(result);
  const has = (id: string | undefined) => options.find((option) => option.id === id)?.id;
  if (isRecord(decision)) {
    const name = Object.keys(decision)[0] ?? "";
    return has(name) ?? options.find(({ id }) => id.startsWith(`${name}:`))?.id;
  }
  if (decision !== undefined) return has(str(decision));
  if (action !== undefined) return action === "accept" ? (has(str(rec(_meta).persist)) ?? has("accept")) : has(str(action));
  if (isRecord(permissions)) return Object.values(permissions).some(Boolean) ? has(str(scope) ?? "turn") : has("deny");
  return undefined;
}
