// The WebSocket route, for those who read the API's description or come without an upgrade. Upgrades never get here.
import { ProblemError } from "../../schema/problem-codes.ts";
import type { App } from "../server-context.ts";
import { SessionPath } from "./parameters.ts";

export function socketRoutes(app: App): void {
  app.get(
    "/v1/sessions/:id/ws",
    {
      schema: { params: SessionPath },
      config: {
        tag: "events",
        operation: "openSocket",
        summary: "The session's events and all its commands over one WebSocket.",
        description:
          'Out: {"type":"hello",…}, {"type":"event","event":{…}}. In: {"id","op":"send|interrupt|terminate|configure|reply_permission|reply_question|reject_question|pending|session|subscribe|unsubscribe",…}; each is answered with {"id","ok":true,"result"} or {"id","ok":false,"problem"}. Query: after, types, include_raw, dialect, subscribe=false. Browsers offer the sub-protocols dragoman.v1 and token.<token>.',
        replies: { 101: { description: "Switching to WebSocket" } },
        problems: ["session_not_found", "cursor_too_large", "too_many_subscribers", "invalid_request"],
      },
    },
    async () => {
      throw new ProblemError("invalid_request", "This route speaks WebSocket: connect with an upgrade request.");
    },
  );
}
