/** What a task wrote: its events, its output by range, the screen of its terminal, and its WebSocket for those who come without an upgrade. */
import Type from "typebox";
import { ProblemError } from "../../schema/problem-codes.ts";
import { EventList } from "../../schema/session.ts";
import { OutputStreamName, TaskOutputRange, TaskScreen } from "../../schema/task.ts";
import type { TaskService } from "../../workspace/tasks/index.ts";
import type { App, ServerContext } from "../server-context.ts";
import { eventPage, eventStream, openEvents, PageQuery, StreamQuery } from "./events.ts";
import { Sequence } from "./parameters.ts";
import { TaskPath } from "./tasks.ts";

const tag = "tasks";
/** A task has no native messages. */
const TaskPageQuery = Type.Omit(PageQuery, ["include_raw"]);
const TaskStreamQuery = Type.Omit(StreamQuery, ["include_raw"]);

export function taskOutputRoutes(app: App, context: ServerContext, tasks: TaskService): void {
  app.get(
    "/v1/tasks/:task/events",
    {
      schema: { params: TaskPath, querystring: TaskPageQuery },
      config: {
        tag,
        reach: "task",
        heavy: "page",
        operation: "listTaskEvents",
        summary: "A page of a task's events.",
        replies: { 200: EventList },
        problems: ["task_not_found", "cursor_too_large", "log_changed", "data_damaged"],
      },
    },
    async ({ params, query, caller }, reply) => {
      const { json, headers } = await eventPage(context, await tasks.stream(params.task), query, caller);
      return reply.type("application/json; charset=utf-8").headers(headers).send(json);
    },
  );

  app.get(
    "/v1/tasks/:task/events/sse",
    {
      schema: { params: TaskPath, querystring: TaskStreamQuery },
      config: {
        tag,
        reach: "task",
        operation: "streamTaskEvents",
        summary: "A task's events, stored and live, until its last task.status.",
        replies: { 200: eventStream, 204: { description: "Nothing will come any more" } },
        problems: ["task_not_found", "cursor_too_large", "log_changed", "too_many_subscribers"],
      },
    },
    async (request, reply) => openEvents(context, await tasks.stream(request.params.task), request, reply),
  );

  app.get(
    "/v1/tasks/:task/output",
    {
      schema: {
        params: TaskPath,
        querystring: Type.Object({
          stream: Type.Optional(OutputStreamName),
          offset: Type.Optional(Type.Integer({ ...Sequence, description: "First byte to read; default 0." })),
          limit: Type.Optional(Type.Integer({ description: "How many bytes at most.", minimum: 1, maximum: 1024 * 1024 })),
        }),
      },
      config: {
        tag,
        // A range can begin in the middle of a secret, where nobody recognises it.
        role: "operate",
        reach: "task",
        heavy: "page",
        operation: "readTaskOutput",
        summary: "A range of what a task wrote, by bytes.",
        replies: { 200: TaskOutputRange },
        problems: ["task_not_found"],
      },
    },
    async ({ params, query }) => tasks.output(params.task, query),
  );

  app.get(
    "/v1/tasks/:task/screen",
    {
      schema: {
        params: TaskPath,
        querystring: Type.Object({
          scrollback: Type.Optional(
            Type.Integer({ description: "Lines above the screen to include.", minimum: 0, maximum: 1_000 }),
          ),
        }),
      },
      config: {
        tag,
        reach: "task",
        heavy: "page",
        operation: "getTaskScreen",
        summary: "The screen of a task's terminal, as it is now.",
        replies: { 200: TaskScreen },
        problems: ["task_not_found", "not_a_terminal", "terminals_unavailable"],
      },
    },
    async ({ params, query }) => tasks.screen(params.task, query.scrollback),
  );

  app.get(
    "/v1/tasks/:task/ws",
    {
      schema: { params: TaskPath },
      config: {
        tag,
        reach: "task",
        operation: "openTaskSocket",
        summary: "A task's terminal, or its pipes, over one WebSocket.",
        description:
          'Out: {"type":"hello",…}, for a terminal {"type":"screen",…}, then {"type":"output","stream","offset","bytes","text"}, {"type":"size","rows","cols"}, and {"type":"ended","task"} at the end. A reader who falls far behind gets the screen again instead of all output. In, with role operate: {"op":"stdin","text"}, {"op":"resize","rows","cols"}, {"op":"signal","signal"}, {"op":"cancel"}; with an "id" each is answered with {"id","ok"}, and refusals always are, with "problem". Browsers offer the sub-protocols dragoman.v1 and token.<token>.',
        replies: { 101: { description: "Switching to WebSocket" } },
        problems: ["task_not_found", "too_many_subscribers", "invalid_request"],
      },
    },
    async () => {
      throw new ProblemError("invalid_request", "This route speaks WebSocket: connect with an upgrade request.");
    },
  );
}
