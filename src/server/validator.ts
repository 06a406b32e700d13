// Checks requests against their TypeBox schemas. Query and path values are text and are converted first; bodies are taken as they are.
import type { FastifySchemaCompiler } from "fastify";
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { type Fault, faultsOf } from "../schema/faults.ts";
import { onUse } from "../schema/on-use.ts";
import { ProblemError } from "../schema/problem-codes.ts";

const MAX_ERRORS = 20;

export const validatorCompiler: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const compiled = onUse(() => Compile(schema));
  return (value: unknown) => {
    const validator = compiled();
    const input = httpPart === "body" ? value : converted(schema, value);
    if (validator.Check(input)) return { value: input };
    return { error: invalidRequest(httpPart ?? "body", faultsOf(validator.Errors(input)), input) };
  };
};

/** Texts that are exactly an integer or a boolean where the schema wants one; `1.5` and `yes` stay text, and are refused. */
function converted(schema: TSchema, value: unknown): unknown {
  const { properties } = schema as { properties?: Record<string, { type?: string }> };
  if (properties === undefined || typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, convertedText(properties[name]?.type, text)]));
}

function convertedText(type: string | undefined, text: unknown): unknown {
  if (typeof text !== "string") return text;
  if (type === "integer" && /^-?[0-9]{1,16}$/.test(text)) return Number(text);
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
  return text;
}

function invalidRequest(part: string, faults: readonly Fault[], value: unknown): ProblemError {
  if (part === "body" && value === undefined)
    return new ProblemError("invalid_request", "This request needs a JSON body with content-type application/json.", {
      errors: [{ path: "", message: "must be an object" }],
    });
  // A body's path is a JSON pointer into it; others are named after their part.
  const errors = faults
    .slice(0, MAX_ERRORS)
    .map(({ path, message }) => ({ path: part === "body" ? path : `${part}${path}`, message }));
  const [first] = errors;
  return new ProblemError(
    "invalid_request",
    `${first?.path || part} ${first?.message ?? "is invalid"}. See \`errors\` and /openapi.json.`,
    { errors },
  );
}
