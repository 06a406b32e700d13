// Which sessions share an app-server: all with the same command, environment and handed skills, because further roots of skills hold for a whole process. Starts one on demand, ends it when nobody uses it.
import { join } from "node:path";
import type { AgentHost } from "../../contract.ts";
import { str } from "../../json.ts";
import { AppServer, type ServerLaunch } from "./app-server.ts";

/** A share in a server. Give it back exactly once. */
export type ServerLease = { server: AppServer; release(): Promise<void> };

/** `left`: users that no longer want it, of one that has not started. */
type Slot = { starting: Promise<AppServer>; users: number; started: boolean; left: number; abandon: AbortController };

export class ServerPool {
  /** codex 0.166 writes a thread to disk with its first turn: one that never had a turn is gone with its process, and nothing is lost. */
  readonly unused = new Set<string>();
  readonly #slots = new Map<string, Slot>();

  /** A start that hangs ends when none of those who wait for it wants it any more. */
  async acquire(
    host: AgentHost,
    sessionEnv: Record<string, string>,
    skills?: string,
    abandoned?: AbortSignal,
  ): Promise<ServerLease> {
    const launch = await launchOf(host, sessionEnv, skills);
    const key = JSON.stringify([launch.command, launch.args, Object.entries(launch.env).sort(), launch.skillRoots]);
    const slot = this.#slots.get(key) ?? this.#start(key, host, launch);
    slot.users++;
    const leave = (): void => {
      slot.left++;
      if (slot.started || slot.left < slot.users) return;
      this.#drop(key, slot);
      slot.abandon.abort();
    };
    if (abandoned?.aborted) leave();
    abandoned?.addEventListener("abort", leave, { once: true });
    try {
      const server = await slot.starting;
      let held = true;
      const release = async (): Promise<void> => {
        if (!held) return;
        held = false;
        await this.#release(key, slot, server);
      };
      return { server, release };
    } catch (error) {
      slot.users--;
      this.#drop(key, slot);
      throw error;
    }
  }

  async close(): Promise<void> {
    const slots = [...this.#slots.values()];
    this.#slots.clear();
    for (const { abandon } of slots) abandon.abort();
    await Promise.allSettled(slots.map(async ({ starting }) => (await starting).stop()));
  }

  #start(key: string, host: AgentHost, launch: ServerLaunch): Slot {
    const abandon = new AbortController();
    const starting = AppServer.start(host, { ...launch, abandoned: abandon.signal }, () => this.#drop(key, slot));
    const slot: Slot = { starting, users: 0, started: false, left: 0, abandon };
    this.#slots.set(key, slot);
    starting.then(
      () => {
        slot.started = true;
      },
      () => {},
    );
    return slot;
  }

  async #release(key: string, slot: Slot, server: AppServer): Promise<void> {
    slot.users--;
    if (slot.users > 0) return;
    this.#drop(key, slot);
    await server.stop();
  }

  /** The next session gets a new one. */
  #drop(key: string, slot: Slot): void {
    if (this.#slots.get(key) === slot) this.#slots.delete(key);
  }
}

/** The user's login and configuration are used as they are, unless `agents.codex.home` names another CODEX_HOME. */
async function launchOf(host: AgentHost, sessionEnv: Record<string, string>, skills?: string): Promise<ServerLaunch> {
  const { command, args } = await host.resolveCommand();
  const home = str(host.settings.home);
  const env = host.environment({ ...(home ? { CODEX_HOME: home } : {}), ...sessionEnv });
  return { command, args: [...args, "app-server"], env, skillRoots: skills === undefined ? [] : [join(skills, "skills")] };
}
