/** The audit record: who changed what, through which surface, and how it went out. Not here: what it changed in a session, which its events say. */
import Type from "typebox";
import { Actor } from "./actor.ts";

export const AuditRecord = Type.Object(
  {
    audit_id: Type.String({ description: "Newer records have smaller ids: the cursor of a page." }),
    time: Type.String({ description: "When it happened: RFC 3339.", format: "date-time" }),
    operation: Type.String({
      description:
        "The operationId of the API, `token.refused` for wrong tokens, or `session.pruned` for each session that was removed because of its age.",
    }),
    outcome: Type.Enum(["done", "refused", "failed"], {
      description: "done: it had its effect. refused: the caller was not allowed. failed: it was allowed and did not succeed.",
    }),
    status: Type.Integer({ description: "The HTTP status it was answered with." }),
    code: Type.Optional(Type.String({ description: "The problem code, when it was not done." })),
    actor: Type.Union([Actor, Type.Null()], { description: "Null: nobody that was recognised." }),
    session_id: Type.Optional(Type.String({ description: "The session it was about." })),
    target: Type.Optional(Type.String({ description: "What else it was about: a token id, a permission id." })),
    remote: Type.Optional(Type.String({ description: "Where wrong tokens came from: a range of addresses." })),
    count: Type.Optional(Type.Integer({ description: "How many wrong tokens this record stands for." })),
  },
  { title: "AuditRecord" },
);
export type AuditRecord = Type.Static<typeof AuditRecord>;

export const AuditList = Type.Object(
  {
    records: Type.Array(AuditRecord, { description: "One page, the newest first." }),
    next: Type.Union([Type.String(), Type.Null()], { description: "`after` of the following page; null at the end." }),
  },
  { title: "AuditList", description: "The newest first." },
);
export type AuditList = Type.Static<typeof AuditList>;
