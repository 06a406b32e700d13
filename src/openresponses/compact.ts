/** `POST /responses/compact`: the provider makes a conversation short. Only where the endpoint's facts say so. */
import type { ResponsesClient } from "./client.ts";
import { ResponsesError } from "./errors.ts";
import { arrayOf, isObject, type JsonObject } from "./json.ts";
import type { CompactRequest } from "./schema/request.ts";

/** The items that stand for the conversation from now on. Throws `ResponsesError`. */
export async function compact(
  client: ResponsesClient,
  request: Omit<CompactRequest, "input"> & { readonly input: string | readonly JsonObject[] },
  signal?: AbortSignal,
): Promise<readonly JsonObject[]> {
  const answer = await client.json("POST", "/responses/compact", { ...request }, signal);
  const items = arrayOf(answer.output).filter(isObject);
  if (answer.object === "response.compaction" && items.length > 0) return items;
  throw new ResponsesError("invalid_request", "The endpoint's compaction has no output: compact without it.", {
    retryable: false,
  });
}
