/** Stands between a client and a server and misbehaves on request. Test helper. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export type TestProxy = {
  /** The address of the server with the proxy's port. */
  url: string;
  /**
   * What happens to the next thing that is sent behind the point where `when` is found in it. `lose_answer`: the server gets it, its answer never arrives, the
   * connection breaks. `lose_request`: the server never gets it. Resolves when it has happened.
   */
  next(fault: "lose_answer" | "lose_request", when: string): Promise<void>;
  /**
   * The next statement with `when` in it is kept, and the connection it came over breaks: who sent it knows nothing. The server gets it when it is delivered, as a network does that was
   * slow; `deliver` resolves when the server has answered.
   */
  late(when: string): Promise<{ deliver(): Promise<void> }>;
  /** No connection, those that are there included, until `open`. */
  shut(): void;
  open(): void;
  /** From now on it leads to this server: those that are connected must connect again. */
  lead(target: string): void;
  close(): Promise<void>;
};

/** The message of the protocol that ends what a client asks in one go. */
const SYNC = Buffer.from([0x53, 0, 0, 0, 4]);

export async function startProxy(target: string): Promise<TestProxy> {
  let { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let fault: { kind: "lose_answer" | "lose_request"; when: string; happened(): void } | undefined;
  let keep: { when: string; pieces: Buffer[]; kept(late: { deliver(): Promise<void> }): void } | undefined;
  let isShut = false;
  const server = createServer((client) => {
    if (isShut) return void client.destroy();
    const upstream = connect(Number(port), hostname);
    let deaf = false;
    const end = (): void => {
      client.destroy();
      upstream.destroy();
      sockets.delete(client);
    };
    sockets.add(client);
    for (const socket of [client, upstream]) socket.on("error", end).on("close", end);
    upstream.on("data", (data) => {
      if (!deaf) return void client.write(data);
      // The answer is there: what was asked is done.
      end();
      fault?.happened();
      fault = undefined;
    });
    let keeping: typeof keep;
    client.on("data", (data) => {
      if (keep !== undefined && data.includes(keep.when)) [keeping, keep] = [keep, undefined];
      if (keeping !== undefined) {
        const { pieces, kept } = keeping;
        pieces.push(data);
        if (!Buffer.concat(pieces).subarray(-SYNC.length).equals(SYNC)) return;
        client
          .off("close", end)
          .off("error", end)
          .on("error", () => undefined);
        sockets.delete(client);
        client.destroy();
        kept({
          async deliver() {
            deaf = true;
            upstream.write(Buffer.concat(pieces));
            await once(upstream, "close");
          },
        });
        return;
      }
      if (fault === undefined || deaf || !data.includes(fault.when)) return void upstream.write(data);
      if (fault.kind === "lose_answer") {
        deaf = true;
        return void upstream.write(data);
      }
      end();
      fault.happened();
      fault = undefined;
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const own = new URL(target);
  own.port = String(typeof address === "object" ? address?.port : "");
  return {
    url: own.href,
    next: (kind, when) =>
      new Promise((happened) => {
        fault = { kind, when, happened };
      }),
    shut() {
      isShut = true;
      for (const socket of sockets) socket.destroy();
    },
    late: (when) =>
      new Promise((kept) => {
        keep = { when, pieces: [], kept };
      }),
    open() {
      isShut = false;
    },
    lead(next) {
      ({ hostname, port } = new URL(next));
      for (const socket of sockets) socket.destroy();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
