// The shape of codex app-server messages: JSON-RPC without the `jsonrpc` member. Only classification; no meaning.
import { errorRecord, isRecord, type JsonRecord } from "../../json.ts";

export type RpcId = string | number;

export type WireMessage =
  | { kind: "request"; id: RpcId; method: string; params: JsonRecord }
  | { kind: "notification"; method: string; params: JsonRecord }
  | { kind: "result"; id: RpcId; result: unknown }
  | { kind: "error"; id: RpcId | null; error: JsonRecord }
  | { kind: "garbage"; error: string };

const isId = (value: unknown): value is RpcId => typeof value === "string" || typeof value === "number";

/** codex 0.166 numbers its requests from 0, so an id is present when it is not undefined, never when it is truthy. */
export function classify(data: unknown): WireMessage {
  if (!isRecord(data)) return { kind: "garbage", error: "not a JSON object" };
  const { id, method, params, result, error } = data;
  if (typeof method === "string") {
    const given = isRecord(params) ? params : {};
    return isId(id) ? { kind: "request", id, method, params: given } : { kind: "notification", method, params: given };
  }
  if ((error ?? null) !== null) return { kind: "error", id: isId(id) ? id : null, error: errorRecord(error) };
  if (isId(id) && "result" in data) return { kind: "result", id, result };
  return { kind: "garbage", error: "neither request, notification nor answer" };
}

/** Ids keep their JSON type: the server ignores the answer "0" to the request 0. */
export const idKey = (id: RpcId): string => JSON.stringify(id);

/** A native name that is safe as a coverage key: bounded in length and alphabet. */
export const typeName = (name: string): string => (/^[\w./:-]{1,80}$/.test(name) ? name : "unknown");

export const strings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === "string") : [];
