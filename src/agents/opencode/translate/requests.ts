// Permissions and questions: asked by the agent, answered by us or by another client, on the classic and the v2 routes.
import type { Draft } from "../../../schema/draft.ts";
import type { PlainReply, QuestionPrompt, ResolvedBy } from "../../../schema/event-data.ts";
import { arr, type JsonRecord, rec, records, str } from "../../json.ts";
import { type ChoiceTable, choice, choiceTable } from "../../kit/choices.ts";
import { readQuestion } from "../../kit/questions.ts";
import { plainDiff } from "./file-changes.ts";
import type { Session, World } from "./state.ts";
import { toolPaths } from "./tool-kinds.ts";

/** What an answer has to quote; handed back by the session with the reply. */
export type NativeRequest = {
  request_id: string;
  session_id: string;
  version: 1 | 2;
  /** What each option of a permission says; empty for questions. */
  choices: ChoiceTable<Answer>;
};

/** What is sent, and what the connection allows by itself from then on: this permission for these patterns. */
export type Answer = { reply: PlainReply; message?: string; remember?: { permission: string; patterns: string[] } };

export type Reply = PlainReply;
const isReply = (reply: unknown): reply is Reply => reply === "once" || reply === "always" || reply === "reject";

/** null: nobody could answer it. */
export function permissionAsked(world: World, session: Session, native: JsonRecord, version: 1 | 2): Draft[] | null {
  const id = str(native.id);
  if (id === undefined) return null;
  if (world.asked.has(id)) return [];
  const metadata = rec(native.metadata);
  const tool = version === 1 ? rec(native.tool) : rec(native.source);
  const callId = str(tool.callID) ?? str(tool.id);
  const call = world.findCall(session, callId);
  const kind = str(native.permission) ?? str(native.action) ?? "unknown";
  const patterns = arr(native.patterns ?? native.resources).flatMap((p) => str(p) ?? []);
  const always = arr(native.always ?? native.save).flatMap((p) => str(p) ?? []);
  const diff = str(metadata.diff);
  const paths = permissionPaths(kind, metadata, patterns);
  world.asked.add(id);
  world.pending.set(id, { kind: "permission", session: session.id, callId: callId ?? null });
  if (diff !== undefined && callId !== undefined) world.diffs.set(callId, plainDiff(diff));
  const request: NativeRequest = { request_id: id, session_id: session.id, version, choices: choicesOf(kind, always) };
  return [
    {
      do: "permission.request",
      key: id,
      action: actionText(kind, metadata, patterns),
      tool_name: call?.name ?? str(metadata.tool) ?? kind,
      input: Object.keys(metadata).length > 0 ? metadata : { patterns },
      call_id: call?.call_id ?? callId ?? null,
      item: call?.callKey ?? null,
      ...(kind === "doom_loop" ? { reason: "the same call was made three times" } : {}),
      ...(diff === undefined ? {} : { diff: plainDiff(diff) }),
      ...(paths.length > 0 ? { paths } : {}),
      options: request.choices.offered,
      native: request,
    },
  ];
}

function actionText(kind: string, metadata: JsonRecord, patterns: string[]): string {
  const what = patterns.join(", ");
  switch (kind) {
    case "bash":
    case "shell":
      return `Run: ${str(metadata.command) ?? what}`;
    case "edit":
      return `Edit: ${str(metadata.filepath) ?? what}`;
    case "external_directory":
      return `Leave the project: ${str(metadata.filepath) ?? str(metadata.parentDir) ?? what}`;
    case "doom_loop":
      return `Repeat the same call of ${str(metadata.tool) ?? what}`;
    case "webfetch":
      return `Fetch: ${str(metadata.url) ?? what}`;
    case "task":
      return `Start sub-agent: ${str(metadata.description) ?? what}`;
    default:
      return what === "" || what === "*" ? `Use: ${kind}` : `Use ${kind}: ${what}`;
  }
}

function permissionPaths(kind: string, metadata: JsonRecord, patterns: string[]): string[] {
  const path = str(metadata.filepath) ?? str(metadata.filePath);
  if (path !== undefined) return path.includes(", ") ? patterns : [path];
  return kind === "read" || kind === "edit" ? patterns : toolPaths(kind, metadata, {});
}

/** 1.18: without a word the turn stops at a rejection; with one the model is informed, and goes on. */
const REJECTED = "The person rejected this. Do not try it again in another way; go on without it or say what you need.";

const choicesOf = (permission: string, patterns: string[]): ChoiceTable<Answer> =>
  choiceTable<Answer>([
    choice("once", "Allow once", "allow_once", { reply: "once" }),
    ...(patterns.length > 0
      ? [
          choice<Answer>("always", `Allow ${patterns.join(", ")} for this session`, "allow_always", {
            reply: "once",
            remember: { permission, patterns },
          }),
        ]
      : []),
    choice("reject", "Reject", "reject_once", { reply: "reject", message: REJECTED }),
  ]);

/** null: a reply this version did not know. */
export function permissionReplied(world: World, id: string | undefined, reply: unknown): Draft[] | null {
  if (id === undefined || !isReply(reply)) return null;
  const pending = world.pending.get(id);
  if (pending?.kind !== "permission") return [];
  const answer = world.answers.get(id);
  const resolved_by: ResolvedBy = answer || !cascades(world, pending.session) ? "client" : "agent";
  world.pending.delete(id);
  const message = answer?.message;
  return [
    {
      do: "permission.resolve",
      key: id,
      status: reply === "reject" ? "denied" : "approved",
      resolved_by,
      reply,
      option_id: reply,
      ...(message ? { message } : {}),
    },
  ];
}

/** Rejecting one request rejects all of the session, allowing one for ever allows those it covers: the agent says so for each. */
const cascades = (world: World, session: string): boolean =>
  [...world.answers.values()].some(
    (answer) => answer.session === session && (answer.reply === "reject" || answer.reply === "always"),
  );

/** null: nobody could answer it. */
export function questionAsked(world: World, session: Session, native: JsonRecord, version: 1 | 2): Draft[] | null {
  const id = str(native.id);
  if (id === undefined) return null;
  if (world.asked.has(id)) return [];
  const callId = str(rec(native.tool).callID);
  const call = world.findCall(session, callId);
  world.asked.add(id);
  world.pending.set(id, { kind: "question", session: session.id, callId: callId ?? null });
  const request: NativeRequest = { request_id: id, session_id: session.id, version, choices: choiceTable([]) };
  return [
    {
      do: "question.request",
      key: id,
      questions: records(native.questions).map(prompt),
      call_id: call?.call_id ?? callId ?? null,
      item: call?.callKey ?? null,
      native: request,
    },
  ];
}

/** A typed answer of one's own is allowed unless the tool says otherwise. */
const prompt = (question: JsonRecord): QuestionPrompt =>
  readQuestion(question, { multi_select: question.multiple === true, free_text: question.custom !== false });

/** `answers` null: rejected. */
export function questionResolved(world: World, id: string | undefined, answers: string[][] | null): Draft[] {
  if (id === undefined || world.pending.get(id)?.kind !== "question") return [];
  world.pending.delete(id);
  if (answers === null) return [{ do: "question.resolve", key: id, status: "rejected", resolved_by: "client" }];
  return [{ do: "question.resolve", key: id, status: "answered", resolved_by: "client", answers }];
}

export const readAnswers = (answers: unknown): string[][] =>
  arr(answers).map((answer) => arr(answer).flatMap((text) => str(text) ?? []));

/** After an abort nobody says what became of the requests: the session closes them with the turn. */
/** Its session is gone: nobody waits for an answer any more. */
export function withdrawRequests(world: World, session: Session): Draft[] {
  return [...world.pending].flatMap(([key, { kind, session: asker }]): Draft[] => {
    if (asker !== session.id) return [];
    world.pending.delete(key);
    world.answers.delete(key);
    return kind === "permission"
      ? [{ do: "permission.resolve", key, status: "denied", resolved_by: "agent" }]
      : [{ do: "question.resolve", key, status: "rejected", resolved_by: "agent" }];
  });
}

export function forgetRequests(world: World, root: Session): void {
  for (const [id, answer] of world.answers) if (answer.session === root.id) world.answers.delete(id);
  for (const [id, pending] of world.pending) {
    const session = world.sessions.get(pending.session);
    if (session && world.root(session) === root) world.pending.delete(id);
  }
}
