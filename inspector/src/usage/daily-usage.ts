/** What the sessions used, day by day and agent by agent. A session counts for the day it was last at work. */
import type { Session } from "../../../src/schema/session.ts";

export type Daily = { days: number[]; agents: { agent: string; cost: number[]; tokens: number[]; sessions: number[] }[] };
export type Total = { name: string; sessions: number; tokens: number; cost: number | null };

const DAY_S = 86_400;
const dayOf = (iso: string): number => Math.floor(new Date(iso).setHours(0, 0, 0, 0) / 1_000);
const tokensOf = ({ usage }: Session): number => (usage ? usage.input_tokens + usage.output_tokens : 0);

/** The last days up to today, also those without work. */
export function dailyUsage(rows: readonly Session[], last: number, now: number): Daily {
  const today = Math.floor(new Date(now).setHours(0, 0, 0, 0) / 1_000);
  const days = Array.from({ length: last }, (_, index) => today - (last - 1 - index) * DAY_S);
  const agents = new Map<string, Daily["agents"][number]>();
  for (const row of rows) {
    const at = Math.round((dayOf(row.updated_at) - (days[0] ?? today)) / DAY_S);
    if (at < 0 || at >= last) continue;
    const known = agents.get(row.agent) ?? { agent: row.agent, cost: none(last), tokens: none(last), sessions: none(last) };
    agents.set(row.agent, known);
    known.cost[at] = (known.cost[at] ?? 0) + (row.usage?.cost_usd ?? 0);
    known.tokens[at] = (known.tokens[at] ?? 0) + tokensOf(row);
    known.sessions[at] = (known.sessions[at] ?? 0) + 1;
  }
  const weight = ({ tokens }: Daily["agents"][number]): number => tokens.reduce((a, b) => a + b, 0);
  return { days, agents: [...agents.values()].sort((a, b) => weight(b) - weight(a)) };
}

const none = (length: number): number[] => new Array<number>(length).fill(0);

/** The most expensive first. */
export function totals(rows: readonly Session[], nameOf: (row: Session) => string): Total[] {
  const found = new Map<string, Total>();
  for (const row of rows) {
    const name = nameOf(row);
    const known = found.get(name) ?? { name, sessions: 0, tokens: 0, cost: null };
    const cost = row.usage?.cost_usd;
    found.set(name, {
      name,
      sessions: known.sessions + 1,
      tokens: known.tokens + tokensOf(row),
      cost: cost === undefined ? known.cost : (known.cost ?? 0) + cost,
    });
  }
  return [...found.values()].sort((a, b) => (b.cost ?? 0) - (a.cost ?? 0) || b.tokens - a.tokens);
}
