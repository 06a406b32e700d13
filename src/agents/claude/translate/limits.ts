// Rate limits of a subscription.
import type { Translation } from "../../contract.ts";
import { type JsonRecord, num, rec, str } from "../../json.ts";
import { mapped } from "../../translation.ts";
import { ADDRESS } from "./state.ts";

/** The CLI counts in seconds since 1970. */
const isoTime = (seconds: number | undefined): { resets_at?: string } => {
  const date = seconds === undefined ? null : new Date(seconds * 1000);
  return date && !Number.isNaN(date.getTime()) ? { resets_at: date.toISOString() } : {};
};

export function rateLimit(frame: JsonRecord): Translation {
  const info = rec(frame.rate_limit_info);
  const used = num(info.utilization);
  const status = str(info.status);
  const overage = str(info.overageStatus);
  const windows = [
    {
      name: str(info.rateLimitType) ?? "unknown",
      ...(used === undefined ? {} : { used_percent: Math.round(used * 1000) / 10 }),
      ...isoTime(num(info.resetsAt)),
      ...(status ? { status } : {}),
    },
    ...(overage ? [{ name: "overage", status: overage, ...isoTime(num(info.overageResetsAt)) }] : []),
  ];
  return mapped(ADDRESS, "rate_limit_event", [{ do: "event", type: "limits.updated", data: { windows } }]);
}
