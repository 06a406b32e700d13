/**
 * Tasks: starting, listing, steering, ending. Starting and steering one runs programs with the rights of the daemon's user, so it needs a person with role
 * operate: an agent would get past the permissions of its own session. Not here: what a task wrote (task-output).
 */
import Type from "typebox";
import { ProblemError } from "../../schema/problem-codes.ts";
import { StartTask, TaskInfo, TaskInput, TaskList, TaskStatusName, TerminalSize } from "../../schema/task.ts";
import type { TaskService } from "../../workspace/tasks/index.ts";
import { realDirectory } from "../access.ts";
import type { App, ServerContext } from "../server-context.ts";
import { sessionRoot } from "../session-files.ts";
import { mayCreateIn } from "../token.ts";
import { callerOf } from "./auth.ts";
import { SessionPath } from "./parameters.ts";

const tag = "tasks";
export const TaskPath = Type.Object({ task: Type.String({ description: "Id of the task.", minLength: 1, maxLength: 128 }) });

const ListQuery = Type.Object({
  status: Type.Optional(TaskStatusName),
  limit: Type.Optional(
    Type.Integer({ description: "How many entries a page has at most.", minimum: 1, maximum: 500, default: 100 }),
  ),
  before: Type.Optional(Type.String({ pattern: "^[0-9]{1,16}\\.[0-9]{1,16}$", description: "`next` of the page before" })),
});

const startProblems = [
  "directory_not_found",
  "program_not_found",
  "terminals_unavailable",
  "too_many_tasks",
  "disk_full",
  "not_ready",
] as const;
const done = { 204: { description: "Done" } };

export function taskRoutes(app: App, context: ServerContext, tasks: TaskService): void {
  startRoutes(app, context, tasks);
  listRoutes(app, context, tasks);
  steerRoutes(app, tasks);
}

function startRoutes(app: App, context: ServerContext, tasks: TaskService): void {
  const { manager, log, defaultDirectory } = context;
  app.post(
    "/v1/sessions/:id/tasks",
    {
      schema: { params: SessionPath, body: StartTask },
      config: {
        tag,
        operation: "startSessionTask",
        summary: "Start a command in the session's directory, on pipes or in a terminal.",
        description:
          "It runs beside the session's turns, with the rights of the daemon's user. The session reports it with `task.spawned` and its last `task.status`; everything else is in the task's own stream.",
        replies: { 201: TaskInfo },
        problems: ["session_not_found", "session_ended", "cwd_outside", ...startProblems],
      },
    },
    async (request, reply) => {
      const session = await manager.get(request.params.id);
      if (session.projection.ended)
        throw new ProblemError("session_ended", "A session that has ended starts no tasks: use POST /v1/tasks.");
      const root = sessionRoot(session.directory);
      const origin = { origin_session_id: session.session_id, actor: callerOf(request).actor };
      return reply.code(201).send(await tasks.start({ ...request.body, ...origin }, root));
    },
  );

  app.post(
    "/v1/tasks",
    {
      schema: { body: StartTask },
      config: {
        tag,
        reach: "filtered",
        operation: "startTask",
        summary: "Start a command in any directory, without a session.",
        description: "`cwd` is an absolute path; without it, the daemon's own directory. A token with a scope needs one inside.",
        replies: { 201: TaskInfo },
        problems: ["forbidden", ...startProblems],
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      log.assertWritable();
      const asked = request.body.cwd ?? defaultDirectory ?? "";
      if (!asked.startsWith("/")) throw new ProblemError("invalid_request", "cwd must be an absolute path.");
      const cwd = realDirectory(asked);
      if (caller.scope !== null && (cwd === undefined || !mayCreateIn(caller.scope, cwd)))
        throw new ProblemError("forbidden", "This token starts tasks only in the directories of its scope. Name one as cwd.");
      const task = await tasks.start({ ...request.body, cwd: cwd ?? asked, actor: caller.actor }, null);
      return reply.code(201).send(task);
    },
  );
}

function listRoutes(app: App, { access, manager }: ServerContext, tasks: TaskService): void {
  app.get(
    "/v1/sessions/:id/tasks",
    {
      schema: { params: SessionPath, querystring: ListQuery },
      config: {
        tag,
        operation: "listSessionTasks",
        summary: "The tasks of a session, the newest first.",
        replies: { 200: TaskList },
        problems: ["session_not_found"],
      },
    },
    async ({ params, query }) => {
      await manager.view(params.id);
      return tasks.list({ ...query, session_id: params.id });
    },
  );

  app.get(
    "/v1/tasks",
    {
      schema: { querystring: ListQuery },
      config: {
        tag,
        reach: "filtered",
        operation: "listTasks",
        summary: "All tasks the token reaches, the newest first.",
        description: "A page can hold fewer than `limit`, and still have a `next`.",
        replies: { 200: TaskList },
      },
    },
    async (request) => {
      const caller = callerOf(request);
      const page = await tasks.list(request.query);
      const seen = await Promise.all(page.tasks.map(({ task_id }) => access.seesTask(caller, task_id)));
      return { ...page, tasks: page.tasks.filter((_, index) => seen[index]) };
    },
  );

  app.get(
    "/v1/tasks/:task",
    {
      schema: { params: TaskPath },
      config: {
        tag,
        reach: "task",
        operation: "getTask",
        summary: "One task.",
        replies: { 200: TaskInfo },
        problems: ["task_not_found"],
      },
    },
    async ({ params }) => tasks.info(params.task),
  );

  app.delete(
    "/v1/tasks/:task",
    {
      schema: { params: TaskPath },
      config: {
        tag,
        reach: "task",
        operation: "deleteTask",
        summary: "Remove an ended task with everything it wrote.",
        replies: done,
        problems: ["task_not_found", "task_running"],
      },
    },
    async ({ params }, reply) => {
      const { status } = await tasks.info(params.task);
      if (status === "queued" || status === "running") throw new ProblemError("task_running");
      await tasks.remove(params.task);
      return reply.code(204).send();
    },
  );
}

function steerRoutes(app: App, tasks: TaskService): void {
  app.post(
    "/v1/tasks/:task/stdin",
    {
      schema: { params: TaskPath, body: TaskInput },
      config: {
        tag,
        reach: "task",
        // The event says who typed what.
        unaudited: true,
        ownIdempotency: true,
        largeBody: true,
        operation: "writeTask",
        summary: "Type into the terminal of a task, or write to its standard input.",
        replies: done,
        problems: ["task_not_found", "task_ended", "task_queued", "no_stdin", "stdin_full"],
      },
    },
    async (request, reply) => {
      await tasks.input(request.params.task, request.body, callerOf(request).actor);
      return reply.code(204).send();
    },
  );

  app.post(
    "/v1/tasks/:task/resize",
    {
      schema: { params: TaskPath, body: TerminalSize },
      config: {
        tag,
        reach: "task",
        unaudited: true,
        operation: "resizeTask",
        summary: "Change the size of a task's terminal.",
        replies: done,
        problems: ["task_not_found", "task_ended", "not_a_terminal"],
      },
    },
    async (request, reply) => {
      await tasks.resize(request.params.task, request.body, callerOf(request).actor);
      return reply.code(204).send();
    },
  );

  app.post(
    "/v1/tasks/:task/signal",
    {
      schema: {
        params: TaskPath,
        body: Type.Object({
          signal: Type.String({ description: "Name of a signal, such as `SIGINT`.", minLength: 1, maxLength: 40 }),
        }),
      },
      config: {
        tag,
        reach: "task",
        operation: "signalTask",
        summary: "Send a signal to the task, by its name.",
        replies: done,
        problems: ["task_not_found", "task_ended", "task_queued", "unknown_signal", "task_of_agent"],
      },
    },
    async (request, reply) => {
      await tasks.signal(request.params.task, request.body.signal, callerOf(request).actor);
      return reply.code(204).send();
    },
  );

  app.post(
    "/v1/tasks/:task/cancel",
    {
      schema: {
        params: TaskPath,
        body: Type.Object({ reason: Type.Optional(Type.String({ description: "Why, for the log.", maxLength: 500 })) }),
      },
      config: {
        tag,
        reach: "task",
        emptyBody: true,
        operation: "cancelTask",
        summary: "End the task and everything it started: SIGTERM, and SIGKILL after two seconds.",
        description:
          "Answered when no process of it is left. A task that has ended stays as it is. A command of the agent is stopped by its agent, where it can.",
        replies: { 200: TaskInfo },
        problems: ["task_not_found", "task_of_agent", "agent_refused", "agent_gone"],
      },
    },
    async (request) => tasks.cancel(request.params.task, request.body.reason ?? "cancelled", callerOf(request).actor),
  );
}
