// Messages outside of the protocol: extensions, and methods agents made up. What is known to mean something is said, the rest is noted.
import type { Translation } from "../../contract.ts";
import { type JsonRecord, str } from "../../json.ts";
import { mapped, noted, unparsed } from "../../translation.ts";
import { modeChanged, modelChanged } from "./config.ts";
import type { SessionState, Surroundings } from "./session-state.ts";
import { onAgentTurn, onAgentTurnEnd } from "./turns.ts";

export function onVendor(
  around: Surroundings,
  method: string,
  params: JsonRecord,
  state: SessionState | null,
  address: string | null,
): Translation {
  const { agentTurn, modeMethod, modelMethod, vendorMethods } = around.quirks;
  const turn = str(params.turnId) ?? "";
  const mode = str(params.currentModeId);
  const model = str(params.currentModelId);
  if (state !== null && method === agentTurn?.start) return mapped(address, method, onAgentTurn(state, turn));
  if (state !== null && method === agentTurn?.end) return mapped(address, method, onAgentTurnEnd(state, around, params.reason));
  if (state !== null && method === modeMethod && mode !== undefined)
    return mapped(address, method, modeChanged(state, around, mode));
  if (state !== null && method === modelMethod && model !== undefined) return mapped(address, method, modelChanged(state, model));
  // Extensions begin with `_` by rule; what breaks the rule and is not known is not understood.
  if (method.startsWith("_") || vendorMethods?.test(method)) return noted(address, `vendor:${method}`, method, params);
  return unparsed(address, "unknown_method", `method ${method} is not part of the protocol`);
}
