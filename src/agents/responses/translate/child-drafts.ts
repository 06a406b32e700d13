/** What a sub-agent's session says, as items of the call that started it. Its calls get ids of their own: two models may use the same ones. */
import type { ContentPart } from "../../../schema/content.ts";
import type { Draft } from "../../../schema/draft.ts";
import type { EventDataOf, PermissionOption, QuestionPrompt } from "../../../schema/event-data.ts";
import type { Item } from "../../../schema/item.ts";
import { arr, bool, type JsonRecord, rec, str } from "../../json.ts";
import { readQuestion } from "../../kit/questions.ts";
import type { NativeRequest } from "./requests.ts";
import type { Statement } from "./wire.ts";

/** What is reported about a child; the person's prompt of it stands in the call. */
export const CHILD_EVENTS = ["item.started", "item.delta", "item.updated", "item.completed", "item.removed"] as const;

type Of<T extends Statement["type"]> = Extract<Statement, { type: T }>;

const OPTIONS: PermissionOption[] = [
  { id: "once", label: "Allow once", kind: "allow_once" },
  { id: "always", label: "Allow for the sub-agent's session", kind: "allow_always" },
  { id: "reject", label: "Reject", kind: "reject_once" },
];

export function childDrafts({ session_id, event }: Of<"child.event">, call: string | null): Draft[] {
  const key = (id: string): string => `child/${session_id}/${id}`;
  if (event.type === "item.delta") {
    const { item_id, part_type, delta, part_index, stream, visibility } = event.data as EventDataOf["item.delta"];
    const nature = { ...(stream === undefined ? {} : { stream }), ...(visibility === undefined ? {} : { visibility }) };
    return [{ do: "item.delta", key: key(item_id), part_type, delta, part_index, ...nature }];
  }
  if (event.type === "item.removed") {
    const { item_id, reason } = event.data as EventDataOf["item.removed"];
    return [{ do: "item.remove", key: key(item_id), reason }];
  }
  const item = rec(event.data.item) as unknown as Item;
  const own = key(item.item_id);
  const content = item.content.map((part) => withOwnCall(part, session_id));
  if (event.type === "item.started") {
    const parent = item.parent_id === null ? call : key(item.parent_id);
    const { kind, role, native_item_id } = item;
    return [{ do: "item.start", item: { key: own, native_item_id, parent, kind, role, content } }];
  }
  if (event.type === "item.updated") return [{ do: "item.update", key: own, content }];
  const status = item.status === "failed" ? "failed" : "completed";
  return event.type === "item.completed" ? [{ do: "item.complete", key: own, content, status }] : [];
}

const withOwnCall = (part: ContentPart, session_id: string): ContentPart =>
  part.type === "tool_call" || part.type === "tool_result" ? { ...part, call_id: `${session_id}:${part.call_id}` } : part;

export function childPermission({ id, permission }: Of<"child.permission">, call: string | null): Draft {
  const metadata = rec(permission.metadata);
  const [reason, diff] = [str(metadata.reason), str(metadata.diff)];
  const paths = arr(metadata.paths).flatMap((path) => str(path) ?? []);
  return {
    do: "permission.request",
    key: id,
    action: `Sub-agent: ${str(permission.action) ?? ""}`,
    tool_name: str(metadata.tool_name) ?? "",
    input: metadata.input,
    item: call,
    ...(reason === undefined ? {} : { reason }),
    ...(diff === undefined ? {} : { diff }),
    ...(paths.length === 0 ? {} : { paths }),
    options: OPTIONS,
    native: { id } satisfies NativeRequest,
  };
}

export const childQuestion = ({ id, questions }: Of<"child.question">, call: string | null): Draft => ({
  do: "question.request",
  key: id,
  questions: questions.map(prompt),
  item: call,
  native: { id } satisfies NativeRequest,
});

const prompt = (asked: JsonRecord): QuestionPrompt =>
  readQuestion(
    { ...asked, question: asked.prompt },
    { multi_select: bool(asked.multi_select) ?? false, free_text: bool(asked.free_text) ?? true },
  );

/** One of the two is open under this key, or none when it was answered here. */
export const childResolved = ({ id: key, approved, answers }: Of<"child.resolved">): Draft[] => [
  { do: "permission.resolve", key, status: approved ? "approved" : "denied", resolved_by: "client" },
  answers === null
    ? { do: "question.resolve", key, status: "rejected", resolved_by: "client" }
    : { do: "question.resolve", key, status: "answered", resolved_by: "client", answers },
];
