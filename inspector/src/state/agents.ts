// The agents of this machine, with what they offer. Read once and on demand: looking means starting each agent's program.
import type { ModeInfo, ModelInfo } from "../../../src/schema/event-data.ts";
import type { AgentInfo } from "../../../src/schema/session.ts";
import { daemon, problemText } from "./daemon.ts";
import { Store } from "./store.ts";

export type Agents = { state: "unknown" } | { state: "known"; agents: AgentInfo[] } | { state: "failed"; detail: string };
export const agents = new Store<Agents>({ state: "unknown" });
let reading: Promise<void> | undefined;

/** Those that are here first, otherwise in the daemon's order. */
export function readAgents(): Promise<void> {
  reading ??= daemon
    .agents()
    .then(
      (list) => agents.set({ state: "known", agents: list.toSorted((a, b) => Number(b.installed) - Number(a.installed)) }),
      (error: unknown) => agents.set({ state: "failed", detail: problemText(error) }),
    )
    .finally(() => {
      reading = undefined;
    });
  return reading;
}

export const agentOf = (value: Agents, id: string): AgentInfo | undefined =>
  value.state === "known" ? value.agents.find((each) => each.agent === id) : undefined;

/** As people call it; its id until the agents are known. */
export const agentName = (value: Agents, id: string): string => agentOf(value, id)?.name ?? id;

/** A capability that is plainly true; agents that are not known are taken to be able. */
export const can = (info: AgentInfo | undefined, name: string): boolean =>
  info === undefined || info.capabilities[name] === true || typeof info.capabilities[name] === "object";

export type Offer = { models: ModelInfo[]; modes: ModeInfo[] };
const offers = new Map<string, Promise<Offer>>();

export function offerOf(agent: string): Promise<Offer> {
  const known = offers.get(agent);
  if (known) return known;
  const asked = Promise.all([daemon.models(agent).catch(() => []), daemon.modes(agent).catch(() => [])]).then(
    ([models, modes]) => ({ models, modes }),
  );
  offers.set(agent, asked);
  void asked.then((offer) => {
    if (offer.models.length + offer.modes.length === 0) offers.delete(agent);
  });
  return asked;
}
