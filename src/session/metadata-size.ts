/** How large the metadata of a session may be. It is in every list of sessions: a page of 500 must stay small, whatever clients store. */
import { ProblemError } from "../schema/problem-codes.ts";

const MAX_CHARS = 64 * 1024;

/** What is wrong with it; null when nothing is. */
export function metadataFault(metadata: Record<string, unknown>): string | null {
  const size = JSON.stringify(metadata).length;
  return size <= MAX_CHARS ? null : `may have ${MAX_CHARS} characters as JSON, and has ${size}`;
}

/** The same metadata. Throws `invalid_request`. */
export function boundedMetadata<T extends Record<string, unknown>>(metadata: T): T {
  const fault = metadataFault(metadata);
  if (fault === null) return metadata;
  throw new ProblemError(
    "invalid_request",
    `The metadata of a session ${fault}. Keep large things in a file, and its path here.`,
    { errors: [{ path: "/metadata", message: fault }] },
  );
}
