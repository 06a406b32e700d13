// The servers of one daemon: sessions whose environment is the same share one. The last session to leave stops its server after a while.
import type { AgentHost } from "../../contract.ts";
import { restrictedEnv } from "./directory-files.ts";
import { OpencodeServer } from "./server.ts";

/** A server takes seconds to start: it outlives its last session a little. */
const LINGER_MS = 10_000;

/** `left`: sessions that no longer wait for one that has not started. `directories`: where its sessions work, one entry a session. */
type Entry = { server: OpencodeServer; users: number; directories: string[]; linger: NodeJS.Timeout | null; left: number };

export class ServerPool {
  readonly #entries = new Map<string, Entry>();

  /** All servers that run. */
  get servers(): OpencodeServer[] {
    return [...this.#entries.values()].map(({ server }) => server);
  }

  /** A server for sessions with this environment of their own, that loads the settings of their directories or not. Give it back with `release`. */
  lease(
    host: AgentHost,
    own: Record<string, string>,
    trusted: boolean,
    directory: string | null = null,
  ): { server: OpencodeServer; release(): Promise<void>; abandon(): void } {
    const env = trusted ? own : { ...own, ...restrictedEnv(host.environment(own)) };
    const key = JSON.stringify(Object.entries(env).sort());
    const entry = this.#entries.get(key) ?? {
      server: new OpencodeServer(host, env),
      users: 0,
      directories: [],
      linger: null,
      left: 0,
    };
    this.#entries.set(key, entry);
    entry.users += 1;
    if (directory !== null) entry.directories.push(directory);
    if (entry.linger) clearTimeout(entry.linger);
    entry.linger = null;
    let released = false;
    const release = async (): Promise<void> => {
      if (released) return;
      released = true;
      entry.users -= 1;
      if (directory !== null) entry.directories.splice(entry.directories.indexOf(directory), 1);
      if (entry.users > 0) return endOwnCommands(entry, directory);
      // The server stays a while, the commands of its last session do not.
      await entry.server.endCommands();
      if (entry.users > 0) return;
      entry.linger = setTimeout(() => {
        if (this.#entries.get(key) === entry) this.#entries.delete(key);
        void entry.server.stop();
      }, lingerOf(host)).unref();
    };
    const abandon = (): void => {
      entry.left += 1;
      if (entry.server.hasStarted || entry.left < entry.users) return;
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
      void entry.server.stop();
    };
    return { server: entry.server, release, abandon };
  }

  async close(): Promise<void> {
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    for (const { linger } of entries) if (linger) clearTimeout(linger);
    await Promise.all(entries.map(({ server }) => server.stop()));
  }
}

/** Other sessions go on. A command is known by where it works: one in a directory that another session shares, too, is left to that one. */
async function endOwnCommands({ server, directories }: Entry, directory: string | null): Promise<void> {
  if (directory === null || directories.some((other) => overlap(other, directory))) return;
  await server.endCommands(directory);
}

const overlap = (one: string, other: string): boolean => `${one}/`.startsWith(`${other}/`) || `${other}/`.startsWith(`${one}/`);

const lingerOf = (host: AgentHost): number => {
  const own = host.settings.linger_ms;
  return typeof own === "number" && own >= 0 ? own : LINGER_MS;
};
