// What agents there are, and their installation.
import Type from "typebox";
import { reaches } from "../../schema/actor.ts";
import { ProblemError } from "../../schema/problem-codes.ts";
import { AgentInfo, AgentList, ModeList, ModelList, VerifyReport } from "../../schema/session.ts";
import { problemOf, toProblemError } from "../problems.ts";
import type { App, ServerContext } from "../server-context.ts";
import { namedEvent, SseStream } from "../sse/stream.ts";
import type { Caller } from "../token.ts";

const tag = "agents";
const AgentPath = Type.Object({
  agent: Type.String({ description: "Id of the agent, such as `claude`.", minLength: 1, maxLength: 200 }),
});
const DirectoryQuery = Type.Object({
  directory: Type.Optional(
    Type.String({
      description: "agents may offer other models in other directories; its settings count only when it is trusted",
    }),
  ),
});

/** A read starts no program: to an observe token only what is known is reported. */
const mayStart = (caller: Caller | null): boolean => caller !== null && reaches(caller.role, "operate");

export function agentRoutes(app: App, { agents, streams, logger }: ServerContext): void {
  app.get(
    "/v1/agents",
    {
      config: {
        tag,
        reach: "none",
        operation: "listAgents",
        summary: "All agents, installed or not.",
        replies: { 200: AgentList },
      },
    },
    async ({ caller }) => ({ agents: await agents.list(mayStart(caller)) }),
  );

  app.get(
    "/v1/agents/:agent",
    {
      schema: { params: AgentPath },
      config: {
        tag,
        reach: "none",
        operation: "getAgent",
        summary: "One agent.",
        replies: { 200: AgentInfo },
        problems: ["agent_unknown"],
      },
    },
    async ({ params, caller }) => agents.inspect(params.agent, mayStart(caller)),
  );

  app.get(
    "/v1/agents/:agent/models",
    {
      schema: { params: AgentPath, querystring: DirectoryQuery },
      config: {
        tag,
        // It starts the agent's program.
        role: "operate",
        reach: "none",
        operation: "listModels",
        summary: "Models the agent offers, with their variants. Starts the agent; the answer is kept for a while.",
        replies: { 200: ModelList },
        problems: ["agent_unknown", "agent_not_found", "directory_not_found", "not_ready"],
      },
    },
    async ({ params, query }) => ({ models: await agents.models(params.agent, query.directory) }),
  );

  app.get(
    "/v1/agents/:agent/modes",
    {
      schema: { params: AgentPath, querystring: DirectoryQuery },
      config: {
        tag,
        role: "operate",
        reach: "none",
        operation: "listModes",
        summary: "Modes the agent offers. Starts the agent; the answer is kept for a while.",
        replies: { 200: ModeList },
        problems: ["agent_unknown", "agent_not_found", "directory_not_found", "not_ready"],
      },
    },
    async ({ params, query }) => ({ modes: await agents.modes(params.agent, query.directory) }),
  );

  app.get(
    "/v1/agents/:agent/verify",
    {
      schema: { params: AgentPath },
      config: {
        tag,
        reach: "none",
        operation: "getVerifyReport",
        summary: "What `dragoman verify` last found out about the agent.",
        replies: { 200: VerifyReport },
        problems: ["agent_unknown", "never_verified"],
      },
    },
    async ({ params }) => agents.verifyReport(params.agent),
  );

  app.post(
    "/v1/agents/:agent/install",
    {
      schema: { params: AgentPath },
      config: {
        tag,
        ownIdempotency: true,
        reach: "all",
        operation: "installAgent",
        summary: "Install the agent into the data directory.",
        description: "Events `progress` {message}, then `done` with the agent, or `problem`.",
        replies: { 200: { description: "Progress", media: "text/event-stream" } },
        problems: ["agent_unknown", "unsupported", "too_many_subscribers"],
      },
    },
    async (request, reply) => {
      const { installable } = await agents.inspect(request.params.agent, true);
      if (!installable)
        throw new ProblemError("unsupported", "This agent cannot be installed by the daemon. Install it by hand.");
      streams.mustHaveRoom(request.caller);
      const sse = new SseStream(request, reply, streams);
      try {
        const agent = await agents.install(request.params.agent, (progress) => sse.write(namedEvent("progress", progress)));
        sse.write(namedEvent("done", agent));
      } catch (error) {
        logger.warn({ err: error, agent: request.params.agent }, "installation failed");
        sse.write(namedEvent("problem", problemOf(toProblemError(error))));
      }
      sse.end();
    },
  );
}
