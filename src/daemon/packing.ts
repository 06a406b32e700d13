/** One node of a fleet packs the sessions of all that rest, once every living node is of its version: an older one would take packed rows for damage. */
import { isLiving } from "../cluster/placement.ts";
import type { Registry } from "../cluster/registry.ts";
import type { PostgresLog } from "../log/postgres/log.ts";
import { resting } from "../log/postgres/sealing.ts";
import { version } from "./version.ts";

const EVERY_MS = 5 * 60_000;

export type PackingOptions = {
  registry: Pick<Registry, "nodes">;
  log: Pick<PostgresLog, "seal">;
  /** True on one node of the fleet. */
  leads(): Promise<boolean>;
  warn(message: string, fields: Record<string, unknown>): void;
};

/** How many sessions were packed. */
export async function packResting({ registry, log, leads }: Omit<PackingOptions, "warn">): Promise<number> {
  const living = (await registry.nodes()).filter(isLiving);
  const alike = living.every((node) => node.version === version);
  return alike && (await leads()) ? log.seal(resting()) : 0;
}

/** What it returns ends it. */
export function keepPacking(options: PackingOptions): () => void {
  const fault = (error: unknown): void =>
    options.warn("sessions that rest could not be packed; they stay as they are", { error: String(error) });
  const timer = setInterval(() => void packResting(options).catch(fault), EVERY_MS).unref();
  return () => clearInterval(timer);
}
