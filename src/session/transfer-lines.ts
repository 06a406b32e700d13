/**
 * The lines of an exported session: one JSON object a line, each with its `kind`. These schemas decide what an import takes; what a line may do after that
 * is decided in import-session.ts.
 */
import Type from "typebox";
import { Compile, type Validator } from "typebox/compile";
import { MAX_DEPTH, nestsDeeper } from "../json/depth.ts";
import { LastError, Usage } from "../schema/event-data.ts";
import { nullable } from "../schema/nullable.ts";
import { onUse } from "../schema/on-use.ts";
import { Metadata, Name, SessionId } from "../schema/session.ts";

export const FORMAT = 1;

const closed = { additionalProperties: false };
const Base64 = Type.String({ pattern: "^[A-Za-z0-9+/]*={0,2}$" });

/** The row as a file may bring it. Fields that are not named here are dropped: they would start or widen something, or another version wrote them. */
export const ImportedRow = Type.Object({
  session_id: SessionId,
  agent: Name,
  agent_version: Type.Optional(nullable(Type.String({ maxLength: 200 }))),
  native_session_id: Type.Optional(nullable(Name)),
  directory: Type.String({ minLength: 1, maxLength: 4_096, pattern: "^[^\\u0000]+$" }),
  model: Type.Optional(nullable(Name)),
  variant: Type.Optional(nullable(Name)),
  agent_mode: Type.Optional(nullable(Name)),
  title: Type.Optional(nullable(Type.String({ maxLength: 10_000 }))),
  metadata: Type.Optional(Metadata),
  fork: Type.Optional(Type.Boolean()),
  forked_from: Type.Optional(nullable(SessionId)),
  parent_session_id: Type.Optional(SessionId),
  usage: Type.Optional(nullable(Usage)),
  usage_told: Type.Optional(Type.Boolean()),
  last_error: Type.Optional(nullable(LastError)),
});
export type ImportedRow = Type.Static<typeof ImportedRow>;

export const SessionLine = Type.Object(
  { kind: Type.Literal("session"), format: Type.Literal(FORMAT), created_at: Type.Integer(), row: ImportedRow },
  closed,
);
export type SessionLine = Type.Static<typeof SessionLine>;

const NativeLine = Type.Object(
  {
    kind: Type.Literal("native"),
    t_ms: Type.Integer({ minimum: -8.64e15, maximum: 8.64e15 }),
    dir: Type.Enum(["in", "out", "err", "exit", "http", "sse", "daemon"]),
    type: Type.String(),
    disposition: Type.Enum(["mapped", "noted", "heartbeat", "unparsed"]),
    base64: Base64,
  },
  closed,
);

const ArtifactLine = Type.Object(
  {
    kind: Type.Literal("artifact"),
    artifact_id: Type.String({ pattern: "^art_[0-9a-f]{64}$" }),
    mime: Type.String({ maxLength: 1_000 }),
    artifact_kind: Type.String({ minLength: 1, maxLength: 100, pattern: "^[\\w./+-]+$" }),
    base64: Base64,
  },
  closed,
);

/** The event itself is checked by the schema of its type. */
const EventLine = Type.Object(
  {
    kind: Type.Literal("event"),
    native: nullable(Type.Integer({ minimum: 1 })),
    event: Type.Record(Type.String(), Type.Unknown()),
  },
  closed,
);

const lines = { native: NativeLine, artifact: ArtifactLine, event: EventLine };
export type NativeLine = Type.Static<typeof NativeLine>;
export type ArtifactLine = Type.Static<typeof ArtifactLine>;
export type EventLine = Type.Static<typeof EventLine>;
export type BodyLine = NativeLine | ArtifactLine | EventLine;

const sessionLine = onUse(() => Compile(SessionLine));
const validators = {
  native: onUse(() => Compile(NativeLine)),
  artifact: onUse(() => Compile(ArtifactLine)),
  event: onUse(() => Compile(EventLine)),
};

/** What is wrong with a line, in one sentence without its number. */
export class LineError extends Error {
  override readonly name = "LineError";
}

/** Throws LineError. */
export function readSessionLine(text: string): SessionLine {
  const value = parsed(text);
  if (kindOf(value) !== "session") throw new LineError("must be the session: this is no session exported by dragoman");
  return checked<SessionLine>(sessionLine(), value);
}

/** Throws LineError. */
export function readBodyLine(text: string): BodyLine {
  const value = parsed(text);
  const kind = kindOf(value);
  if (typeof kind !== "string" || !Object.hasOwn(lines, kind))
    throw new LineError(
      `has the kind ${JSON.stringify(kind) ?? "undefined"}, which must be one of: ${Object.keys(lines).join(", ")}`,
    );
  return checked<BodyLine>(validators[kind as keyof typeof validators](), value);
}

/** Throws LineError when the text is not exactly the base64 of some bytes. */
export function bytesOf(base64: string): Buffer {
  const bytes = Buffer.from(base64, "base64");
  if (base64.length % 4 !== 0 || bytes.toString("base64").length !== base64.length)
    throw new LineError("has base64 that was cut");
  return bytes;
}

function parsed(text: string): unknown {
  try {
    if (nestsDeeper(text, MAX_DEPTH)) throw new LineError(`is nested deeper than ${MAX_DEPTH} levels`);
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof LineError) throw error;
    throw new LineError(`is not JSON (${error instanceof Error ? error.message : String(error)})`);
  }
}

const kindOf = (value: unknown): unknown =>
  typeof value === "object" && value !== null && "kind" in value ? value.kind : undefined;

function checked<T>(validator: Validator, value: unknown): T {
  if (validator.Check(value)) return value as T;
  const [fault] = validator.Errors(value);
  const where = fault?.instancePath.slice(1).replaceAll("/", ".") ?? "";
  const { additionalProperties, requiredProperties } = (fault?.params ?? {}) as Partial<Record<string, readonly string[]>>;
  if (additionalProperties)
    throw new LineError(`has unknown fields: ${[where, additionalProperties.join(", ")].filter(Boolean).join(": ")}`);
  if (requiredProperties)
    throw new LineError(`lacks required fields: ${[where, requiredProperties.join(", ")].filter(Boolean).join(": ")}`);
  throw new LineError(`has a wrong value: ${where || "it"} ${fault?.message ?? "is invalid"}`);
}
