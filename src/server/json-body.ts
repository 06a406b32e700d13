// Reads JSON from clients. Deep nesting is refused here, because everything behind (checks, serialization) walks recursively.
import { ProblemError } from "../schema/problem-codes.ts";

const MAX_DEPTH = 200;

const QUOTE = 34;
const BACKSLASH = 92;

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

function nestsDeeper(text: string, limit: number): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (char === QUOTE) i = endOfString(text, i);
    else if (char === 123 || char === 91) {
      if (++depth > limit) return true;
    } else if (char === 125 || char === 93) depth--;
  }
  return false;
}

/** Index of the closing quote; searched natively, since almost all bytes of a large body lie in strings. */
function endOfString(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}
