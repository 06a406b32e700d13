/** Every error leaves as problem+json, also that of an address that is no route, or not with this method. Not here: what a problem says (problems.ts). */
import type { FastifyReply, FastifyRequest } from "fastify";
import { ProblemError } from "../schema/problem-codes.ts";
import { problemHeaders, problemOf, toProblemError } from "./problems.ts";
import { RouteTable } from "./route-table.ts";
import type { App, ServerContext } from "./server-context.ts";

export function addProblems(app: App, { logger }: ServerContext): void {
  const table = new RouteTable();
  app.addHook("onRoute", (route) => table.add(route));
  const notFound = (request: FastifyRequest): ProblemError => {
    const methods = table.methodsOf(request.url);
    // A route that has the method and still does not know: a file that is not there.
    return methods.length === 0 || methods.includes(request.method) ? new ProblemError("not_found") : new MethodError(methods);
  };
  // Already here: the body of a request that matches nothing is not read.
  app.addHook("onRequest", async (request) => {
    if (request.is404) throw notFound(request);
  });
  app.setNotFoundHandler((request) => {
    throw notFound(request);
  });
  app.setErrorHandler((error, request, reply) => {
    const problem = toProblemError(error);
    if (problem.status >= 500) logger.error({ err: problem.cause ?? error, route: request.routeOptions.url }, "request failed");
    request.problemCode = problem.code;
    if (problem instanceof MethodError) reply.header("allow", problem.methods.join(", "));
    return sendProblem(reply, problem);
  });
}

/** As bytes: the framework would add a charset to text, and problem+json has none. */
export const sendProblem = (reply: FastifyReply, problem: ProblemError): FastifyReply =>
  reply
    .code(problem.status)
    .headers(problemHeaders(problem))
    .send(Buffer.from(JSON.stringify(problemOf(problem))));

class MethodError extends ProblemError {
  readonly methods: readonly string[];
  constructor(methods: readonly string[]) {
    super("method_not_allowed", `This route takes ${methods.join(" and ")}. See /openapi.json.`);
    this.methods = methods;
  }
}
