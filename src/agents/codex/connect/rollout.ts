/** Where Codex keeps what is its own, and the file of a thread there. */
import type { AgentHost, Carry } from "../../contract.ts";
import { str } from "../../json.ts";
import { carriedFiles } from "../../kit/carry.ts";
import { codexHome } from "./exec-rules.ts";

export const homeOf = (host: Pick<AgentHost, "settings">, env: Readonly<Record<string, string>>): string =>
  codexHome(str(host.settings.home), env);

/** Of which day it is, is in its path and nowhere in the id. */
export const carriedThread: Carry = carriedFiles(
  "home",
  ({ host, environment }) => homeOf(host, environment),
  (id) => [["sessions", /^\d{4}$/, /^\d\d$/, /^\d\d$/, new RegExp(`^rollout-.*-${id}\\.jsonl`)]],
);
