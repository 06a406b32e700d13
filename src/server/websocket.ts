/**
 * WebSocket upgrades: the same checks as every request, before a socket is accepted. What happens on the socket is the session socket's business.
 */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import { ProblemError } from "../schema/problem-codes.ts";
import type { TaskService } from "../workspace/tasks/index.ts";
import { withAgent } from "./agent-caller.ts";
import { type Look, lookForTask, ownerOf, unreachable } from "./fleet.ts";
import type { FleetPort } from "./fleet-port.ts";
import type { NodeRequests } from "./node-requests.ts";
import type { OriginGuard } from "./origin-guard.ts";
import { closeWithProblem, toProblemError } from "./problems.ts";
import type { ServerContext } from "./server-context.ts";
import { SessionSocket } from "./session-socket.ts";
import { readSubscribeQuery } from "./socket-messages.ts";
import { type TaskConnection, TaskSocket } from "./task-socket.ts";
import type { Caller } from "./token.ts";

const PATH = /^\/v1\/(sessions|tasks)\/([^/]+)\/ws$/;
export const PROTOCOL = "dragoman.v1";
/** A whole message of a client with an observe token. */
const OBSERVE_BYTES = 64 * 1024;

export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** `onAccepted`: its caller may be here. */
export function createUpgradeHandler(
  context: ServerContext,
  guard: OriginGuard,
  nodes: NodeRequests,
  onAccepted: (socket: IncomingMessage["socket"]) => void,
): UpgradeHandler {
  const serverFor = (maxPayload: number): WebSocketServer => {
    const server = new WebSocketServer({
      noServer: true,
      maxPayload,
      perMessageDeflate: false,
      // Every answer to a ping is kept until the client reads it: see SocketLife.
      autoPong: false,
      // A token may stand among the offered protocols; it is never sent back.
      handleProtocols: (offered) => (offered.has(PROTOCOL) ? PROTOCOL : false),
    });
    return server.on("wsClientError", (error, socket) =>
      refuse(socket, new ProblemError("malformed_request", `This is no WebSocket handshake: ${error.message}.`), context),
    );
  };
  // Who may only look has nothing large to say.
  const [looking, acting] = [serverFor(OBSERVE_BYTES), serverFor(context.limits.body_bytes)];
  const accept = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const onError = (): void => void socket.destroy();
    socket.on("error", onError);
    try {
      const fromNode = nodes.isInternal(request.url) && nodes.admit(request).isClients;
      const origin = fromNode ? "none" : guard.check(request);
      const url = new URL(request.url ?? "/", "http://localhost");
      const [, kind, id] = PATH.exec(url.pathname) ?? [];
      if (id === undefined || (kind === "tasks" && !context.tasks))
        throw new ProblemError("not_found", "WebSockets are taken at /v1/sessions/{id}/ws and /v1/tasks/{task}/ws only.");
      const session_id = decode(id);
      const caller = nodes.callerOf(request) ?? (await context.access.authenticate(request, origin));
      context.access.enter(caller)();
      const server = caller.role === "observe" ? looking : acting;
      const upgrade = { request, socket, head, caller, fromNode };
      if (kind === "tasks" && context.tasks) {
        await context.access.check(caller, { role: "observe", reach: "task" }, { task: session_id });
        if (await sentOn(context, (fleet) => lookForTask(fleet, session_id, context.log), upgrade)) return;
        const connection = await taskConnection(context, context.tasks, session_id, caller, request);
        context.streams.mustHaveRoom(caller);
        onAccepted(request.socket);
        server.handleUpgrade(request, socket, head, (ws) => {
          socket.off("error", onError);
          context.metrics.countRequest("GET", "/v1/tasks/:task/ws", 101);
          new TaskSocket(ws, connection, context).start().catch(() => ws.terminate());
        });
        return;
      }
      await context.access.check(caller, { role: "observe", reach: "session" }, { id: session_id });
      if (await sentOn(context, async (fleet) => () => fleet.route(session_id), upgrade)) return;
      const session = await context.manager.get(session_id);
      const query = await readSubscribeQuery(
        url.searchParams,
        session.stream,
        context.dialects,
        context.redactions.reader(caller),
      );
      const redactor = context.redactions.applyTo(caller) ? await context.redactions.ofSession(session_id) : null;
      context.streams.mustHaveRoom(caller);
      onAccepted(request.socket);
      server.handleUpgrade(request, socket, head, (ws) => {
        socket.off("error", onError);
        context.metrics.countRequest("GET", "/v1/sessions/:id/ws", 101);
        new SessionSocket(ws, { session, caller, request, redactor }, context).start(query);
      });
    } catch (error) {
      refuse(socket, toProblemError(error), context);
    }
  };
  return (request, socket, head) => void accept(request, socket, head);
}

type Upgrade = { request: IncomingMessage; socket: Duplex; head: Buffer; caller: Caller; fromNode: boolean };

/** True: another node owns the session, and has the socket now. Throws `wrong_node`, `owner_unreachable`. */
async function sentOn(
  context: ServerContext,
  lookFor: (fleet: FleetPort) => Promise<Look>,
  { request, socket, head, caller, fromNode }: Upgrade,
): Promise<boolean> {
  const { fleet } = context;
  if (!fleet) return false;
  const owner = await ownerOf(await lookFor(fleet));
  if (owner === null) return false;
  if (fromNode) throw new ProblemError("wrong_node");
  // The owner sees this node at the other end: who really calls is found out here.
  const known = JSON.stringify(await withAgent(caller, request, context));
  await fleet.upgrade(request, socket, head, { node: owner.node, caller: known }).catch((error: unknown) => {
    throw unreachable(`Its owner cannot be reached (${String(error)}).`);
  });
  return true;
}

async function taskConnection(
  { redactions }: ServerContext,
  tasks: TaskService,
  taskId: string,
  caller: Caller,
  request: IncomingMessage,
): Promise<TaskConnection> {
  const redactor = redactions.applyTo(caller) ? await redactions.ofSession(taskId) : null;
  return { tasks, taskId, task: await tasks.watched(taskId), caller, request, redactor };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new ProblemError("session_not_found");
  }
}

function refuse(socket: Duplex, error: ProblemError, { logger, metrics }: ServerContext): void {
  if (error.code === "internal") logger.error({ err: error.cause }, "upgrade failed");
  metrics.countRequest("GET", "/v1/sessions/:id/ws", error.status);
  closeWithProblem(socket, error);
}
