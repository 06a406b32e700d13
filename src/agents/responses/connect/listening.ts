/**
 * Whether something listens at an endpoint of this machine. Others are not asked: looking at the list of agents must not send anything over a network.
 */
import { connect } from "node:net";

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);
const PATIENCE_MS = 500;

export function isListening(baseUrl: string): Promise<boolean> {
  const { hostname, port, protocol } = new URL(baseUrl);
  if (!LOOPBACK.has(hostname)) return Promise.resolve(true);
  return new Promise((resolve) => {
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ""),
      port: Number(port || (protocol === "https:" ? 443 : 80)),
      timeout: PATIENCE_MS,
    });
    const done = (found: boolean): void => {
      socket.destroy();
      resolve(found);
    };
    socket.once("connect", () => done(true));
    socket.once("timeout", () => done(false));
    socket.once("error", () => done(false));
  });
}
