/** What lies behind a session's events: how native messages were understood, and those messages themselves. */
import { Readable } from "node:stream";
import Type from "typebox";
import type { NativeRow, Stream } from "../../log/contract.ts";
import { Coverage } from "../../schema/session.ts";
import { DECIDED } from "../../session/decision.ts";
import { nativeJson } from "../event-encoding.ts";
import { paced } from "../pacing.ts";
import type { App, ServerContext } from "../server-context.ts";
import { Sequence, SessionPath, sessionStream } from "./parameters.ts";

const tag = "ledger";

const NativeQuery = Type.Object({
  after: Type.Optional(Type.Integer({ ...Sequence, description: "Only messages after this number." })),
  limit: Type.Optional(Type.Integer({ minimum: 1, description: "at most so many; default all" })),
});

export function ledgerRoutes(app: App, { log }: ServerContext): void {
  app.get(
    "/v1/sessions/:id/coverage",
    {
      schema: { params: SessionPath },
      config: {
        tag,
        anywhere: true,
        operation: "getCoverage",
        summary: "How the agent's native messages were understood, per native type.",
        replies: { 200: Coverage },
        problems: ["session_not_found"],
      },
    },
    async ({ params }) => coverageOf(await sessionStream(log, params.id)),
  );

  app.get(
    "/v1/sessions/:id/native",
    {
      schema: { params: SessionPath, querystring: NativeQuery },
      config: {
        tag,
        heavy: "whole",
        // Verbatim or not at all: it may hold secrets, in pieces that cannot be recognised.
        role: "operate",
        anywhere: true,
        operation: "readNative",
        summary:
          "The flight recorder: every native message in both directions and what the daemon decided between them, as NDJSON.",
        replies: {
          200: {
            description: "One message a line: {native_seq, t_ms, dir, type, disposition, data}",
            media: "application/x-ndjson",
          },
        },
        problems: ["session_not_found"],
      },
    },
    async ({ params, query }, reply) => {
      const stream = await sessionStream(log, params.id);
      return reply
        .type("application/x-ndjson")
        .send(Readable.from(paced(nativeLines(stream, query.after ?? 0, query.limit)), { highWaterMark: 1 }));
    },
  );
}

async function coverageOf(stream: Stream): Promise<Coverage> {
  // What the daemon decided is no message that could be understood or not.
  const types = (await stream.coverage()).filter(({ type }) => !type.startsWith(DECIDED));
  const totals = { mapped: 0, noted: 0, heartbeat: 0, unparsed: 0 };
  for (const { disposition, count } of types) totals[disposition] += count;
  return { totals, types };
}

/** Pages of lines; the next page is read when the client has taken the last. */
async function* nativeLines(stream: Stream, after: number, limit = Number.POSITIVE_INFINITY): AsyncGenerator<string> {
  let left = limit;
  for (let at = after; left > 0; ) {
    const page = await stream.readNative({ after: at, limit: Math.min(left, 500), maxBytes: 64 * 1024 });
    if (page.messages.length > 0) yield page.messages.map(nativeLine).join("");
    if (!page.has_more) return;
    left -= page.messages.length;
    at = page.next;
  }
}

const nativeLine = ({ native_seq, t_ms, dir, type, disposition, body }: NativeRow): string =>
  `{"native_seq":${native_seq},"t_ms":${t_ms},"dir":"${dir}","type":${JSON.stringify(type)},"disposition":"${disposition}","data":${nativeJson(body)}}\n`;
