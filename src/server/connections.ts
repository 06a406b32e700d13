/**
 * How many connections there may be, and which one goes when there are too many: the oldest that does nothing for a caller with a valid token. So however
 * many idle or half-open ones somebody makes, the owner gets in.
 */
import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { descriptorLimit } from "./descriptors.ts";

/** Descriptors that are not for clients: database, agents (three each), files. */
const RESERVED_DESCRIPTORS = 256;
const FEWEST_CONNECTIONS = 32;
/** Beyond the limit, for the moment in which another one is closed. */
const HEADROOM = 64;

export class Connections {
  /** Oldest first: those that may be closed. */
  readonly #idle = new Set<Socket>();
  readonly #limit: number;
  #open = 0;

  constructor(limit: number) {
    this.#limit = Math.min(limit, affordable(descriptorLimit()));
  }

  /** Counts the connections of this server too; the limit is one for all. */
  watch(server: Server): void {
    server.maxConnections = this.#limit + HEADROOM;
    server.on("connection", (socket: Socket) => this.#opened(socket));
  }

  /** Its caller showed a valid token: it stays until the response is over (a WebSocket: until it is closed). */
  keep(socket: Socket, response?: ServerResponse): void {
    this.#idle.delete(socket);
    response?.once("close", () => {
      if (!socket.destroyed) this.#idle.add(socket);
    });
  }

  #opened(socket: Socket): void {
    this.#open += 1;
    socket.once("close", () => {
      this.#open -= 1;
      this.#idle.delete(socket);
    });
    if (this.#open > this.#limit) {
      const [oldest] = this.#idle;
      if (oldest !== undefined) {
        this.#idle.delete(oldest);
        oldest.destroy();
      }
    }
    this.#idle.add(socket);
  }
}

const affordable = (descriptors: number): number => Math.max(FEWEST_CONNECTIONS, descriptors - RESERVED_DESCRIPTORS);
