/** Reads JSON from clients. Deep nesting is refused here, because everything behind (checks, serialization) walks recursively. */
import { MAX_DEPTH, nestsDeeper } from "../json/depth.ts";
import { ProblemError } from "../schema/problem-codes.ts";

/** Undefined for an empty text. Throws `invalid_json` and `invalid_request`. */
export function parseJson(text: string): unknown {
  if (text.trim() === "") return undefined;
  if (nestsDeeper(text, MAX_DEPTH))
    throw new ProblemError("invalid_request", `The JSON nests deeper than ${MAX_DEPTH} levels. Flatten it.`);
  try {
    return JSON.parse(text, text.includes("__proto__") || /\\u005f/i.test(text) ? withoutProto : undefined);
  } catch (error) {
    throw new ProblemError("invalid_json", `The body is not JSON: ${error instanceof Error ? error.message : ""}.`, {
      cause: error,
    });
  }
}

/** An own key `__proto__` would become a prototype as soon as somebody copies the object. */
const withoutProto = (key: string, value: unknown): unknown => (key === "__proto__" ? undefined : value);
