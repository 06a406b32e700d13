// Sign-in as the agent reports it: auth/status_update (schema) and _auth/status_update (claude-agent-acp 0.99, codex-acp 2.6).
import type { Draft } from "../../../schema/draft.ts";
import { isRecord, type JsonRecord, rec, str } from "../../json.ts";

export function authNotice(params: JsonRecord): Draft[] {
  if (isRecord(params.authStatus)) {
    const { label, detail, kind } = params.authStatus;
    const missing = kind === "none" || kind === "unauthenticated";
    const message = [str(label), str(detail)].filter((text) => text !== undefined).join(": ");
    return [
      { do: "event", type: "auth.status", data: { status: missing ? "required" : "ok", ...(message === "" ? {} : { message }) } },
    ];
  }
  const state = str(params.state);
  if (state === undefined || state === "unknown") return [];
  const label = str(rec(Array.isArray(params.accounts) ? params.accounts[0] : undefined).label);
  return [
    {
      do: "event",
      type: "auth.status",
      data: { status: state === "unauthenticated" ? "required" : "ok", ...(label === undefined ? {} : { message: label }) },
    },
  ];
}
