// The tools, in the order a model meets them: look, start, speak, wait, read, answer, stop.
import Type from "typebox";
import { boundTo } from "../client/requests.ts";
import { finalText } from "../client/turn-outcome.ts";
import type { Session } from "../schema/session.ts";
import { artifactTools } from "./artifact-tools.ts";
import { checkpointTools } from "./checkpoint-tools.ts";
import type { Ownership } from "./ownership.ts";
import { isSettled, settle } from "./settle.ts";
import { taskTools } from "./task-tools.ts";
import { type Tool, tool } from "./tool.ts";
import { lineOf } from "./transcript.ts";

const optional = Type.Optional;
const strict = { additionalProperties: false };
const SessionId = Type.String({ minLength: 1, maxLength: 128, description: "session_id of list_sessions or create_session" });
/** Less than the minute after which many MCP clients give a call up. */
const WAIT_DEFAULT_S = 45;

const brief = (session: Session, ownership: Ownership) => ({
  session_id: session.session_id,
  agent: session.agent,
  status: session.status,
  title: session.title,
  directory: session.directory,
  model: session.model,
  queued: session.queued,
  open_permissions: session.pending.permissions,
  open_questions: session.pending.questions,
  last_sequence: session.last_sequence,
  created_at: session.created_at,
  created_by_you: ownership.createdHere(session),
  ended: session.ended && { reason: session.ended.reason, message: session.ended.message ?? null },
});

export const tools: readonly Tool[] = [
  tool({
    name: "list_agents",
    description: "Lists the coding agents this machine can run, and whether each is installed and signed in.",
    readOnly: true,
    input: Type.Object({}, strict),
    run: async (_, { daemon, signal }) => ({
      agents: (await daemon.agents(signal)).map(({ agent, name, installed, signed_in, advice }) => ({
        agent,
        name,
        installed,
        signed_in,
        advice,
      })),
    }),
  }),
  tool({
    name: "list_sessions",
    description: "Lists sessions, the newest first. `status` waiting means that one needs a permission or an answer.",
    readOnly: true,
    input: Type.Object(
      {
        agent: optional(Type.String()),
        status: optional(Type.Enum(["starting", "idle", "running", "waiting", "dormant", "ended"])),
        search: optional(Type.String({ description: "in title, id, directory and agent" })),
        limit: optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
        before: optional(Type.String({ description: "`next` of the page before" })),
      },
      strict,
    ),
    run: async ({ limit, ...filter }, { daemon, ownership, signal }) => {
      const { sessions, next } = await daemon.sessions({ ...filter, limit: limit ?? 20 }, signal);
      return { sessions: sessions.map((session) => brief(session, ownership)), next };
    },
  }),
  tool({
    name: "search_sessions",
    description:
      "Finds what was said and done in any session, the newest first: messages, thoughts, tool calls with their results, requests, errors. Read the place with read_session.",
    readOnly: true,
    input: Type.Object(
      {
        query: Type.String({ minLength: 1, description: 'words that must all occur; "in quotes": next to each other' }),
        agent: optional(Type.String()),
        directory: optional(Type.String()),
        session_id: optional(SessionId),
        kind: optional(Type.String({ description: "user, assistant, reasoning, tool, request, error; several with commas" })),
        limit: optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
        before: optional(Type.String({ description: "`next` of the page before" })),
      },
      strict,
    ),
    run: async ({ query, session_id, ...filter }, { daemon, signal }) => {
      const { hits, next, index } = await daemon.search(
        query,
        { ...filter, ...(session_id ? { session: session_id } : {}) },
        signal,
      );
      return { hits: hits.map(({ highlights: _, ...hit }) => hit), next, index };
    },
  }),
  tool({
    name: "create_session",
    description:
      "Starts a session with another coding agent and, if `message` is given, sends it. Then call wait_for_session. Permissions it asks for are a person's to answer, never yours.",
    readOnly: false,
    input: Type.Object(
      {
        agent: Type.String({ description: "one of list_agents, for example claude or codex" }),
        directory: optional(Type.String({ minLength: 1, description: "absolute path it works in" })),
        message: optional(Type.String()),
        model: optional(Type.String()),
        title: optional(Type.String({ maxLength: 500 })),
        plan_only: optional(Type.Boolean({ description: "let it read and plan but change nothing" })),
      },
      strict,
    ),
    run: async ({ message, plan_only, ...request }, { daemon, ownership, permissionMode, signal }) => {
      const permission_mode = plan_only ? "plan" : permissionMode;
      const session = await daemon.createSession({ ...request, permission_mode }, signal);
      ownership.created(session.id);
      const sent = message === undefined ? {} : await session.send(message, { signal });
      return { session_id: session.id, ...sent };
    },
  }),
  tool({
    name: "send_message",
    description: "Sends a message to a session. It starts a turn, waits for the running one (queue), or joins it (steer).",
    readOnly: false,
    input: Type.Object(
      {
        session_id: SessionId,
        message: Type.String({ minLength: 1 }),
        when_busy: optional(Type.Enum(["queue", "steer", "reject"])),
      },
      strict,
    ),
    run: async ({ session_id, message, when_busy }, { daemon, ownership, signal }) => {
      const session = daemon.session(session_id);
      ownership.mustMaySend(await session.get(signal));
      return session.send(message, { ...(when_busy ? { when_busy } : {}), signal });
    },
  }),
  tool({
    name: "wait_for_session",
    description:
      "Waits until the session is idle, has ended, or needs a permission or an answer, and gives the agent's last text. When `timed_out` is true, call it again.",
    readOnly: true,
    input: Type.Object(
      {
        session_id: SessionId,
        timeout_s: optional(Type.Number({ minimum: 0, maximum: 3600, default: WAIT_DEFAULT_S })),
      },
      strict,
    ),
    run: async ({ session_id, timeout_s }, { daemon, ownership, signal }) => {
      const session = daemon.session(session_id);
      await session.get(signal);
      const limit = AbortSignal.any([signal, AbortSignal.timeout((timeout_s ?? WAIT_DEFAULT_S) * 1000)]);
      await settle(session, limit).catch((error: unknown) => {
        if (!limit.aborted) throw error;
      });
      const [view, { items }, pending] = await Promise.all([
        session.get(signal),
        session.items({ order: "desc", signal }),
        session.pending(signal),
      ]);
      return { ...brief(view, ownership), timed_out: !isSettled(view), last_text: finalText(items.toReversed()), ...pending };
    },
  }),
  tool({
    name: "read_session",
    description: "Reads the transcript: messages, tool calls and results, the newest last. `before` goes further back.",
    readOnly: true,
    input: Type.Object(
      {
        session_id: SessionId,
        limit: optional(Type.Integer({ minimum: 1, maximum: 200, default: 20 })),
        before: optional(Type.Integer({ minimum: 1, description: "`earlier` of the page before" })),
        longest: optional(Type.Integer({ minimum: 100, maximum: 100_000, default: 2_000, description: "characters an item" })),
      },
      strict,
    ),
    run: async ({ session_id, limit, before, longest }, { daemon, ownership, signal }) => {
      const session = daemon.session(session_id);
      const range = before === undefined ? {} : { before };
      const [view, page] = await Promise.all([
        session.get(signal),
        session.items({ order: "desc", limit: limit ?? 20, ...range, signal }),
      ]);
      return {
        ...brief(view, ownership),
        items: page.items.toReversed().map((item) => lineOf(item, longest ?? 2_000)),
        earlier: page.has_more ? page.next : null,
      };
    },
  }),
  tool({
    name: "list_pending",
    description: "Lists open permissions and questions, of one session or of all that wait.",
    readOnly: true,
    input: Type.Object({ session_id: optional(SessionId) }, strict),
    run: async ({ session_id }, { daemon, ownership, signal }) => {
      const sessions =
        session_id === undefined
          ? (await daemon.sessions({ status: "waiting", limit: 100 }, signal)).sessions
          : [await daemon.session(session_id).get(signal)];
      const waiting = sessions.map(async (session) => ({
        session_id: session.session_id,
        agent: session.agent,
        created_by_you: ownership.createdHere(session),
        ...(await daemon.session(session.session_id).pending(signal)),
      }));
      return { sessions: await Promise.all(waiting) };
    },
  }),
  tool({
    name: "answer_permission",
    description:
      "Allows or rejects what an agent wants to do, when the person asked you to. Refused for every session created through MCP, and inside an agent that dragoman runs.",
    readOnly: false,
    input: Type.Object(
      {
        session_id: SessionId,
        permission_id: Type.String({ minLength: 1 }),
        reply: Type.Enum(["once", "always", "reject"]),
        message: optional(Type.String({ description: "given to the agent with a rejection" })),
        input_hash: optional(
          Type.String({
            description: "metadata.input_hash of the permission you read: refused when the agent asks for another input by now",
          }),
        ),
      },
      strict,
    ),
    run: async ({ session_id, permission_id, ...reply }, { daemon, signal }) => {
      const session = daemon.session(session_id);
      const open = (await session.pending(signal)).permissions.find((each) => each.permission_id === permission_id);
      await session.replyPermission(permission_id, { ...(open ? boundTo(open) : {}), ...reply }, signal);
      return { answered: permission_id, reply: reply.reply };
    },
  }),
  tool({
    name: "answer_question",
    description:
      "Answers an agent's questions, when the person asked you to: one list of answers for each question, in order. Without `answers` it refuses to answer. Refused for every session created through MCP, and inside an agent that dragoman runs.",
    readOnly: false,
    input: Type.Object(
      {
        session_id: SessionId,
        question_id: Type.String({ minLength: 1 }),
        answers: optional(Type.Array(Type.Array(Type.String()))),
      },
      strict,
    ),
    run: async ({ session_id, question_id, answers }, { daemon, signal }) => {
      const session = daemon.session(session_id);
      if (answers === undefined) await session.rejectQuestion(question_id, signal);
      else await session.replyQuestion(question_id, answers, signal);
      return { answered: question_id, rejected: answers === undefined };
    },
  }),
  tool({
    name: "interrupt",
    description: "Stops the running turn; the session stays and takes further messages.",
    readOnly: false,
    input: Type.Object({ session_id: SessionId }, strict),
    run: async ({ session_id }, { daemon, signal }) => {
      await daemon.session(session_id).interrupt(signal);
      return { interrupted: session_id };
    },
  }),
  tool({
    name: "terminate",
    description: "Ends the session and its agent. Its transcript stays readable.",
    readOnly: false,
    input: Type.Object({ session_id: SessionId }, strict),
    run: async ({ session_id }, { daemon, signal }) => {
      await daemon.session(session_id).terminate(signal);
      return { terminated: session_id };
    },
  }),
  ...taskTools,
  ...checkpointTools,
  ...artifactTools,
];
