/**
 * The same API on a unix socket. Who may connect is decided by the file system: the socket has mode 0600 from its first moment on. Node cannot ask for the
 * peer's user, so there is no second check.
 */
import { rmSync } from "node:fs";
import type { Server } from "node:http";

/** A socket that a killed daemon left is removed: whoever calls this holds the lock of the data directory. */
export async function listenOnSocket(server: Server, path: string): Promise<void> {
  rmSync(path, { force: true });
  const mask = process.umask(0o177);
  try {
    // The socket is made in this very call, so the mask holds for it alone.
    server.listen({ path });
  } finally {
    process.umask(mask);
  }
  await new Promise<void>((resolve, reject) => {
    server.once("listening", resolve);
    server.once("error", reject);
  });
}
