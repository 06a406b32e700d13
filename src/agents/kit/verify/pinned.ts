/** The exact versions `npm run conformance` installs and runs. On Node 20 npm would otherwise pick older ones that still support it. */
import type { Agent } from "../../contract.ts";

export type PinnedAgent = {
  /** The agent's id, whose `DRAGOMAN_<ID>_COMMAND` is pointed at it. */
  readonly agent: string;
  readonly npm: string;
  /** Where it is the version that `install` takes, it is written once, in the agent's definition. */
  readonly version: string;
  /** What to start, under node_modules. */
  readonly program: string;
  /** `node`: a script that needs a newer Node than dragoman itself; it is run with `PINNED_NODE`. */
  readonly run: "itself" | "node";
  /** Programs of the machine it cannot do without, and how to get them. */
  readonly needs?: readonly { readonly program: string; readonly advice: string }[];
  /** Versions before it that `npm run conformance -- --versions` runs too. */
  readonly older?: readonly string[];
  /** The set for a run that must not take long; all when it is not given. A name may end with `*`. */
  readonly scenarios?: readonly string[];
};

/** For programs that are run a second time, behind a bridge: enough to see that the bridge is understood. */
export const BRIDGE_SET: readonly string[] = [
  "text",
  "thinking",
  "shell-ok",
  "edit",
  "permission-allow",
  "permission-deny",
  "mcp-tool",
  "todo",
  "http-400",
  "interrupt-text",
  "resume",
  "terminate",
  "leftovers-*",
  "mode-*",
  "trust-*",
];

/** The version that `install` takes. */
export function pinned(
  { id, npmPackage }: Pick<Agent, "id" | "npmPackage">,
  rest: Partial<Omit<PinnedAgent, "agent" | "npm" | "version">> = {},
): PinnedAgent {
  if (npmPackage === null) throw new Error(`${id} has no package to pin.`);
  const { name, version, bin } = npmPackage;
  return { agent: id, npm: name, version, program: `.bin/${bin}`, run: "itself", ...rest };
}
