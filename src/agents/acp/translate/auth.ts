// Sign-in as the agent reports it: auth/status_update (schema) and _auth/status_update (claude-agent-acp 0.99, codex-acp 2.6).
import type { Draft } from "../../../schema/draft.ts";
import { isRecord, type JsonRecord, own, records, str } from "../../json.ts";

export function authNotice(params: JsonRecord): Draft[] {
  if (isRecord(params.authStatus)) {
    const { label, detail, kind } = params.authStatus;
    const missing = kind === "none" || kind === "unauthenticated";
    const message = [str(label), str(detail)].filter((text) => text !== undefined).join(": ");
    return [
      { do: "event", type: "auth.status", data: { status: missing ? "required" : "ok", ...(message === "" ? {} : { message }) } },
    ];
  }
  const status = own(STATES, str(params.state) ?? "");
  if (status === undefined) return [];
  const accounts = records(params.accounts);
  const label = str((accounts.find(({ active }) => active === true) ?? accounts[0])?.label);
  return [{ do: "event", type: "auth.status", data: { status, ...(label === undefined ? {} : { message: label }) } }];
}

const STATES: Readonly<Record<string, "ok" | "required">> = {
  authenticated: "ok",
  not_required: "ok",
  unauthenticated: "required",
};

/** Null: a state that is known, or a shape of an extension. */
export function strangeAuth({ state, authStatus }: JsonRecord): string | null {
  const known = isRecord(authStatus) || state === "unknown" || own(STATES, str(state) ?? "") !== undefined;
  return known ? null : `sign-in of state ${String(state)}`;
}
