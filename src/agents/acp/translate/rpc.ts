// JSON-RPC 2.0 as it comes on the wire: distinguishes requests, notifications and answers. Not here: what they mean.
import { errorRecord, isRecord, type JsonRecord, rec, str } from "../../json.ts";

export type RpcId = string | number | null;
export type RpcError = { code: number | string | null; message: string; data: unknown };

/** What a request was answered with. */
export type Answer = { result: unknown } | { error: RpcError };

export type RpcMessage =
  | { kind: "request"; id: RpcId; method: string; params: JsonRecord }
  | { kind: "notification"; method: string; params: JsonRecord }
  | { kind: "result"; id: RpcId; result: unknown }
  | { kind: "error"; id: RpcId; error: RpcError }
  | { kind: "invalid"; why: string };

export function readRpc(data: unknown): RpcMessage {
  if (!isRecord(data)) return { kind: "invalid", why: typeof data === "string" ? "not JSON" : "not a JSON-RPC object" };
  const method = str(data.method);
  const id = readId(data.id);
  if (method !== undefined) {
    const params = rec(data.params);
    // Agents' ids start at 0, so absence is undefined, never falsy.
    return data.id === undefined ? { kind: "notification", method, params } : { kind: "request", id, method, params };
  }
  // With a result, null is no error.
  if ((data.error ?? null) !== null) return { kind: "error", id, error: readError(data.error) };
  if ("result" in data) return { kind: "result", id, result: data.result };
  return { kind: "invalid", why: "neither method, result nor error" };
}

const readId = (id: unknown): RpcId => (typeof id === "string" || typeof id === "number" ? id : null);

export function readError(error: unknown): RpcError {
  const { code, message, data } = errorRecord(error);
  return { code: typeof code === "number" || typeof code === "string" ? code : null, message: str(message) ?? "", data };
}

/** `0` and `"0"` are different requests. */
export const idKey = (id: RpcId): string => `${typeof id === "string" ? "s" : "n"}${id}`;
