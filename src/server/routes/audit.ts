/** The audit record over the API: for administrators, the newest first. */
import Type from "typebox";
import { AuditList } from "../../schema/audit.ts";
import type { App, ServerContext } from "../server-context.ts";

const AuditQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ description: "How many entries a page has at most.", minimum: 1, maximum: 1_000, default: 100 }),
  ),
  after: Type.Optional(Type.String({ pattern: "^[0-9]{13}-[0-9]{6}$", description: "`next` of the page before" })),
});

export function auditRoutes(app: App, { audit }: ServerContext): void {
  app.get(
    "/v1/audit",
    {
      schema: { querystring: AuditQuery },
      config: {
        tag: "auth",
        role: "admin",
        reach: "all",
        operation: "listAudit",
        summary: "Who changed what: one record for each command, made or refused, and for wrong tokens. Kept for 90 days.",
        replies: { 200: AuditList },
      },
    },
    async ({ query }) => audit.list({ limit: query.limit ?? 100, ...(query.after === undefined ? {} : { after: query.after }) }),
  );
}
