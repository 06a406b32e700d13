// Sessions: create, list, read, change, remove, and the commands that stop or branch them.
import Type from "typebox";
import { ProblemError } from "../../schema/problem-codes.ts";
import {
  CreateSession,
  DirectorySettings,
  ForkSession,
  Session,
  SessionList,
  SessionState,
  UpdateSession,
} from "../../schema/session.ts";
import { isNamed, type ListFilter } from "../../session/session-list.ts";
import { configure, createSession, forkSession, interrupt, removeSession, resume, terminate } from "../commands.ts";
import type { FleetPort } from "../fleet-port.ts";
import type { App, ServerContext } from "../server-context.ts";
import type { Caller } from "../token.ts";
import { callerOf } from "./auth.ts";
import { NodeQuery, nodeWish, SessionPath } from "./parameters.ts";

const tag = "sessions";
const done = { description: "Done" };

const ListQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ description: "How many entries a page has at most.", minimum: 1, maximum: 500, default: 50 }),
  ),
  before: Type.Optional(Type.String({ description: "`next` of the page before" })),
  agent: Type.Optional(Type.String({ description: "Only sessions of this agent." })),
  status: Type.Optional(SessionState),
  directory: Type.Optional(Type.String({ description: "Only sessions that work there." })),
  tag: Type.Optional(Type.String({ description: "only those with this tag" })),
  archived: Type.Optional(
    Type.Enum(["exclude", "only", "include"], { description: "sessions that were put away; default exclude" }),
  ),
  ended: Type.Optional(Type.Enum(["exclude", "only", "include"], { description: "sessions that have ended; default include" })),
  pinned: Type.Optional(Type.Boolean({ description: "only those that are pinned, or are not" })),
  order: Type.Optional(
    Type.Enum(["created", "updated"], { description: "created (default): the newest first; updated: the last written first" }),
  ),
  search: Type.Optional(Type.String({ description: "in title, id, directory and agent" })),
  ...NodeQuery,
});

export function sessionRoutes(app: App, context: ServerContext): void {
  const { manager } = context;
  app.post(
    "/v1/sessions",
    {
      schema: { body: CreateSession },
      config: {
        tag,
        reach: "create",
        agents: true,
        operation: "createSession",
        summary: "Create a session. Its agent starts with the first message.",
        replies: { 201: Session },
        problems: [
          "agent_unknown",
          "session_exists",
          "directory_not_found",
          "directory_untrusted",
          "agent_not_found",
          "unsupported",
          "too_many_sessions",
          "disk_full",
        ],
      },
    },
    async (request, reply) => {
      const session = await createSession(context, callerOf(request), request.body);
      return reply.code(201).header("location", `/v1/sessions/${session.session_id}`).send(session);
    },
  );

  app.get(
    "/v1/sessions",
    {
      schema: { querystring: ListQuery },
      config: {
        tag,
        reach: "filtered",
        operation: "listSessions",
        summary: "List sessions, the newest first.",
        replies: { 200: SessionList },
        problems: ["no_fleet"],
      },
    },
    async (request) => {
      const caller = callerOf(request);
      const { archived = "exclude", ended = "include", node, label, ...query } = request.query;
      const wish = nodeWish({ node, label }, context.fleet);
      const filter: ListFilter = {
        ...query,
        ...(wish === null ? {} : { ids: await wish.fleet.sessionsOn(wish) }),
        ...(archived === "include" ? {} : { archived: archived === "only" }),
        ...(ended === "include" ? {} : { ended: ended === "only" }),
        limit: request.query.limit ?? 50,
        only: async (view) =>
          (await context.access.sees(caller, view.session_id)) && isNamed(await shownTo(context, caller, view), query.search),
      };
      const list = await manager.list(filter);
      const sessions = (await context.fleet?.views(list.sessions)) ?? list.sessions;
      // Where an unreadable session works is not known: no scope reaches it.
      return { ...list, sessions, ...(caller.scope === null ? {} : { unreadable: [] }) };
    },
  );

  app.get(
    "/v1/sessions/:id",
    {
      schema: { params: SessionPath },
      config: {
        tag,
        fallback: true,
        operation: "getSession",
        summary: "Read a session.",
        replies: { 200: Session },
        problems: ["session_not_found", "session_unreadable"],
      },
    },
    async ({ params }) => (context.fleet ? viewInFleet(context, context.fleet, params.id) : manager.view(params.id)),
  );

  app.get(
    "/v1/sessions/:id/settings",
    {
      schema: { params: SessionPath },
      config: {
        tag,
        operation: "getDirectorySettings",
        summary: "Which files of its directory the session's agent loads, and which are held back because it is not trusted.",
        replies: { 200: DirectorySettings },
        problems: ["session_not_found"],
      },
    },
    async ({ params }) => (await manager.get(params.id)).directorySettings(),
  );

  app.patch(
    "/v1/sessions/:id",
    {
      schema: { params: SessionPath, body: UpdateSession },
      config: {
        tag,
        agents: true,
        operation: "updateSession",
        summary: "Change model, variant, mode, permission mode, trust or title of a living session.",
        replies: { 200: Session },
        problems: ["session_not_found", "session_ended", "session_busy", "unsupported", "disk_full"],
      },
    },
    async (request) => configure(context, callerOf(request), request.params.id, request.body),
  );

  app.delete(
    "/v1/sessions/:id",
    {
      schema: { params: SessionPath },
      config: {
        tag,
        agents: true,
        withoutLog: true,
        operation: "deleteSession",
        summary: "Delete the session and everything it stored in the log.",
        replies: { 204: done },
        problems: ["session_not_found", "disk_full"],
      },
    },
    async (request, reply) => {
      await removeSession(context, callerOf(request), request.params.id);
      return reply.code(204).send();
    },
  );

  app.post(
    "/v1/sessions/:id/interrupt",
    {
      schema: { params: SessionPath },
      config: {
        tag,
        agents: true,
        withoutLog: true,
        operation: "interruptSession",
        summary: "Stop the running turn. Nothing happens when none runs.",
        replies: { 204: done },
        problems: ["session_not_found", "session_ended"],
      },
    },
    async (request, reply) => {
      await interrupt(context, callerOf(request), request.params.id);
      return reply.code(204).send();
    },
  );

  app.post(
    "/v1/sessions/:id/resume",
    {
      schema: { params: SessionPath },
      config: {
        tag,
        agents: true,
        operation: "resumeSession",
        summary: "Start the agent of a dormant session without a message. Nothing happens when it runs.",
        replies: { 200: Session },
        problems: ["session_not_found", "session_ended", "agent_not_found", "agent_failed_to_start", "disk_full"],
      },
    },
    async (request) => resume(context, callerOf(request), request.params.id),
  );

  app.post(
    "/v1/sessions/:id/terminate",
    {
      schema: { params: SessionPath },
      config: {
        tag,
        agents: true,
        withoutLog: true,
        operation: "terminateSession",
        summary: "End the session. Ending it again changes nothing.",
        replies: { 204: done },
        problems: ["session_not_found", "disk_full"],
      },
    },
    async (request, reply) => {
      await terminate(context, callerOf(request), request.params.id);
      return reply.code(204).send();
    },
  );

  app.post(
    "/v1/sessions/:id/fork",
    {
      schema: { params: SessionPath, body: ForkSession },
      config: {
        tag,
        emptyBody: true,
        reach: "branch",
        agents: true,
        operation: "forkSession",
        summary: "Fork the conversation into a new session, if the agent supports it.",
        replies: { 201: Session },
        problems: ["session_not_found", "fork_unsupported", "not_resumable", "session_exists", "too_many_sessions"],
      },
    },
    async (request, reply) => {
      const session = await forkSession(context, callerOf(request), request.params.id, request.body);
      return reply.code(201).header("location", `/v1/sessions/${session.session_id}`).send(session);
    },
  );
}

/** Where nobody owns it now, as it is stored. */
async function viewInFleet({ manager }: ServerContext, fleet: FleetPort, id: string): Promise<Session> {
  try {
    return await manager.view(id);
  } catch (error) {
    if (!(error instanceof ProblemError) || error.code !== "wrong_node") throw error;
    const [view] = await fleet.views([await manager.storedView(id)]);
    if (!view) throw error;
    return view;
  }
}

/** As the caller reads it: a title is found by what it shows, or a secret in it could be guessed letter by letter. */
async function shownTo({ redactions }: ServerContext, caller: Caller, view: Session): Promise<Session> {
  if (!redactions.applyTo(caller) || view.title === null) return view;
  return { ...view, title: await redactions.text(view.title, [view.session_id]) };
}
