/**
 * The same API on a unix socket. Who may connect is decided by the file system: the socket has mode 0600 from its first moment on. Node cannot ask for the
 * peer's user, so there is no second check.
 */
import { randomBytes } from "node:crypto";
import { lstatSync, renameSync, rmSync } from "node:fs";
import type { Server } from "node:http";
import { basename, dirname, join } from "node:path";

/**
 * A socket that a killed daemon left is replaced: whoever calls this holds the lock of the data directory. Returns a function that removes the socket from
 * the path, unless another daemon has put its own there; call it before the server is closed.
 *
 * Node removes whatever lies at the path it has bound when it closes. So a name of its own is bound and then given the path.
 */
export async function listenOnSocket(server: Server, path: string): Promise<() => void> {
  // Not longer than the path itself: systems take about a hundred bytes.
  const bound = join(dirname(path), randomBytes(16).toString("hex").slice(0, basename(path).length));
  const mask = process.umask(0o177);
  try {
    // The socket is made in this very call, so the mask holds for it alone.
    server.listen({ path: bound });
  } finally {
    process.umask(mask);
  }
  await new Promise<void>((resolve, reject) => {
    server.once("listening", resolve);
    server.once("error", reject);
  });
  const own = fileAt(bound);
  renameSync(bound, path);
  return () => {
    if (fileAt(path) === own) rmSync(path, { force: true });
  };
}

function fileAt(path: string): string | null {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev}:${found.ino}`;
}
