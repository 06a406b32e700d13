/** Finds the daemon: at an address, or the one that runs on this machine. Not here: starting one (start.ts). */
import { Dragoman } from "./dragoman.ts";
import { DragomanError } from "./error.ts";
import type { HttpOptions } from "./http.ts";

export type ConnectOptions = Partial<HttpOptions> & { dataDir?: string };

/**
 * With a url: that daemon. Without, in Node: the one that runs on this machine, found through its discovery file. A token that is given, here or in
 * DRAGOMAN_TOKEN, always counts, and a wrong one is refused.
 */
export async function connect(options: ConnectOptions = {}): Promise<Dragoman> {
  if (options.url !== undefined) return new Dragoman({ ...options, url: options.url });
  if (typeof process === "undefined" || !process.versions?.node)
    throw new DragomanError("no_daemon", "Give connect() the url of the daemon: only Node can look for one on this machine.");
  const { discover } = await import("./discover.ts");
  const found = await discover(options.dataDir);
  if (!found)
    throw new DragomanError(
      "no_daemon",
      "No daemon is running on this machine. Start one with `dragoman start`, or give connect() its url and token.",
    );
  const token = options.token ?? (process.env.DRAGOMAN_TOKEN || undefined) ?? found.token;
  if (token === undefined)
    throw new DragomanError(
      "no_token",
      "The daemon keeps no token on the disk. Give it: with DRAGOMAN_TOKEN, with --token-file, or to connect().",
    );
  const fetcher = options.fetch ?? found.fetch;
  return new Dragoman({
    url: found.url,
    token,
    ...(fetcher ? { fetch: fetcher } : {}),
    ...(options.client ? { client: options.client } : {}),
  });
}
