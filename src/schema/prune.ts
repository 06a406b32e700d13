/** Removing old sessions: what is asked for, and what was or would be removed. */
import Type from "typebox";
import { Name, SessionState } from "./session.ts";

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** An age as people write it. */
export const Age = Type.String({
  pattern: "^[0-9]{1,5}[mhdw]$",
  description: "A whole number and its unit: `m` minutes, `h` hours, `d` days, `w` weeks, such as `90d`",
});

/** Milliseconds of an `Age`. */
export const ageMs = (age: string): number => Number(age.slice(0, -1)) * UNITS[age.slice(-1) as keyof typeof UNITS];

export const PruneSessions = Type.Object(
  {
    older_than: Type.String({ ...Age, description: "Only sessions whose last event is older. `0m`: of any age" }),
    keep: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 1_000_000, description: "So many of the newest stay in any case. Default 0" }),
    ),
    agent: Type.Optional(Type.String({ ...Name, description: "Only sessions of this agent." })),
    directory: Type.Optional(Type.String({ minLength: 1, maxLength: 4_096, description: "Only those that work there" })),
    dry_run: Type.Optional(Type.Boolean({ description: "Only say what would be removed. Default false" })),
  },
  { title: "PruneSessions", additionalProperties: false },
);
export type PruneSessions = Type.Static<typeof PruneSessions>;

export const PrunedSession = Type.Object(
  {
    session_id: Type.String({ description: "Id of the session." }),
    agent: Type.String({ description: "Id of the agent, such as `claude`." }),
    directory: Type.String({ description: "Absolute path of the working directory, on the daemon's machine." }),
    title: Type.Union([Type.String(), Type.Null()], { description: "Name for people; null while there is none." }),
    status: SessionState,
    updated_at: Type.String({ format: "date-time", description: "When its last event was written" }),
    events: Type.Integer({ description: "How many events it had." }),
    native_messages: Type.Integer({ description: "How many native messages it had." }),
  },
  { title: "PrunedSession" },
);
export type PrunedSession = Type.Static<typeof PrunedSession>;

export const PruneResult = Type.Object(
  {
    dry_run: Type.Boolean({ description: "Nothing was removed: this is what would be." }),
    count: Type.Integer({ description: "Sessions that were removed, or would be" }),
    events: Type.Integer({ description: "In all of them" }),
    native_messages: Type.Integer({ description: "In all of them" }),
    oldest: Type.Union([Type.String(), Type.Null()], { description: "`updated_at` of the oldest" }),
    newest: Type.Union([Type.String(), Type.Null()], { description: "`updated_at` of the newest" }),
    sessions: Type.Array(PrunedSession, { description: "The newest first, at most 1000 of them" }),
    has_more: Type.Boolean({ description: "Not all were removed in one request: ask again for the others" }),
  },
  { title: "PruneResult" },
);
export type PruneResult = Type.Static<typeof PruneResult>;
