/** All routes of the API and the description that is made from them. A new file of routes is one line here. */
import type { Authenticator } from "../auth.ts";
import { OpenApi } from "../openapi.ts";
import type { App, ServerContext } from "../server-context.ts";
import { agentRoutes } from "./agents.ts";
import { artifactRoutes } from "./artifacts.ts";
import { auditRoutes } from "./audit.ts";
import { authRoutes } from "./auth.ts";
import { checkpointRoutes } from "./checkpoints.ts";
import { directoryRoutes } from "./directories.ts";
import { eventRoutes } from "./events.ts";
import { fileChangeRoutes } from "./file-changes.ts";
import { fileRoutes } from "./files.ts";
import { ledgerRoutes } from "./ledger.ts";
import { messageRoutes } from "./messages.ts";
import { nodeRoutes } from "./nodes.ts";
import { pruneRoutes } from "./prune.ts";
import { queueRoutes } from "./queue.ts";
import { requestRoutes } from "./requests.ts";
import { searchRoutes } from "./search.ts";
import { sessionRoutes } from "./sessions.ts";
import { shareRoutes } from "./share.ts";
import { socketRoutes } from "./socket.ts";
import { stateRoutes } from "./state.ts";
import { systemRoutes } from "./system.ts";
import { taskOutputRoutes } from "./task-output.ts";
import { taskRoutes } from "./tasks.ts";
import { uiRoutes } from "./ui.ts";

export function addRoutes(app: App, context: ServerContext, authenticator: Authenticator): void {
  const openApi = new OpenApi(context.version);
  app.addHook("onRoute", (route) => openApi.add(route));
  systemRoutes(app, context, openApi);
  authRoutes(app, context, authenticator);
  auditRoutes(app, context);
  agentRoutes(app, context);
  sessionRoutes(app, context);
  pruneRoutes(app, context);
  messageRoutes(app, context);
  eventRoutes(app, context);
  queueRoutes(app, context);
  requestRoutes(app, context);
  stateRoutes(app, context);
  ledgerRoutes(app, context);
  artifactRoutes(app, context);
  checkpointRoutes(app, context);
  searchRoutes(app, context);
  if (context.tasks) {
    taskRoutes(app, context, context.tasks);
    taskOutputRoutes(app, context, context.tasks);
  }
  fileRoutes(app, context);
  directoryRoutes(app, context);
  shareRoutes(app, context);
  fileChangeRoutes(app, context);
  nodeRoutes(app, context);
  socketRoutes(app);
  uiRoutes(app, context);
  for (const add of context.routes ?? []) add(app, context);
}
