// A port nobody listens on, for a server that cannot choose one itself.
import { createServer } from "node:net";

/** `--port 0` means 4096 to OpenCode, so a free port is looked for here. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
