/** A token that shows one session to somebody and lets them change nothing. */
import Type from "typebox";
import { ProblemError } from "../../schema/problem-codes.ts";
import type { App, ServerContext } from "../server-context.ts";
import { directoryOf } from "../session-place.ts";
import { callerOf } from "./auth.ts";
import { SessionPath } from "./parameters.ts";

const SharedSession = Type.Object(
  {
    token: Type.String({ description: "Goes behind `/ui#link=`. It is shown this once." }),
    token_id: Type.String({ description: "Names it in lists and in the audit." }),
    expires_at: Type.String({ format: "date-time", description: "When it ends at the latest: RFC 3339." }),
  },
  { title: "SharedSession" },
);

export function shareRoutes(app: App, { log, tokens }: ServerContext): void {
  app.post(
    "/v1/sessions/:id/share",
    {
      schema: { params: SessionPath },
      config: {
        tag: "auth",
        role: "operate",
        ownIdempotency: true,
        operation: "shareSession",
        summary: "A token that reads this one session, for a day at most. It ends with the token it was made by.",
        replies: { 201: SharedSession },
        problems: ["session_not_found", "too_many_tokens"],
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const directory = await directoryOf(log, id);
      if (directory === undefined) throw new ProblemError("session_not_found");
      const { secret, token } = tokens.share(callerOf(request), id, directory);
      await tokens.saved();
      return reply
        .code(201)
        .send({ token: secret, token_id: token.id, expires_at: new Date(token.expires_at ?? 0).toISOString() });
    },
  );
}
