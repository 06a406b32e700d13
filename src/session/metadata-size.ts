/** How large the metadata of a session may be. It is in every list of sessions: a page of 500 must stay small, whatever clients store. */
import { ProblemError } from "../schema/problem-codes.ts";

const MAX_CHARS = 64 * 1024;

/** The same metadata. Throws `invalid_request`. */
export function boundedMetadata<T extends Record<string, unknown>>(metadata: T): T {
  const size = JSON.stringify(metadata).length;
  if (size <= MAX_CHARS) return metadata;
  throw new ProblemError(
    "invalid_request",
    `The metadata of a session may have ${MAX_CHARS} characters as JSON, and this has ${size}. Keep large things in a file, and its path here.`,
  );
}
