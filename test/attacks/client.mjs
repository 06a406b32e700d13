// A hostile client in a process of its own, so that what it costs itself is not taken for the daemon's slowness.
// Arguments: the daemon's URL, a token, the attack, and what the attack takes. Prints `done` and keeps its connections until its input ends.
import { connect } from "node:net";

const MB = 1024 * 1024;
const [url, token, attack, ...rest] = process.argv.slice(2);
const port = Number(new URL(url).port);
const auth = `Authorization: Bearer ${token}\r\n`;
const times = (count, one) => Promise.all(Array.from({ length: Number(count) }, one));

/** A connection that sends and never reads. Ends by itself when the daemon closes it. */
async function deaf(head) {
  const socket = connect({ port, host: "127.0.0.1" });
  socket.on("error", () => {});
  await new Promise((resolve) => socket.once("connect", resolve).once("close", resolve));
  socket.pause();
  socket.write(head);
  return socket;
}

/** Writes it all, as far as the daemon takes it: resolves when it is written, or nothing went on for a while. */
async function pour(socket, piece, count, quietMs = 1_500) {
  let moved = () => {};
  socket.on("drain", () => moved(true)).on("close", () => moved(true));
  for (let sent = 0; sent < count && !socket.destroyed; sent++) {
    if (socket.write(piece)) continue;
    const going = await new Promise((resolve) => {
      const quiet = setTimeout(() => resolve(false), quietMs);
      moved = () => {
        clearTimeout(quiet);
        resolve(true);
      };
    });
    if (!going) return;
  }
}

const [TEXT, PING] = [0x81, 0x89];

/** A frame of a client, masked with zeros. */
function frame(kind, text) {
  const body = Buffer.from(text);
  return Buffer.concat([Buffer.from([kind, 0x80 | body.length, 0, 0, 0, 0]), body]);
}

const attacks = {
  async bodies(path, count) {
    const piece = Buffer.alloc(MB, "x");
    const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${31 * MB}\r\n\r\n"`;
    await times(count, async () => pour(await deaf(head), piece, 30));
  },
  async sockets(path, words, count) {
    const upgrade = `GET ${path}/ws HTTP/1.1\r\nHost: localhost\r\n${auth}Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`;
    const one = words === "ping" ? frame(PING, "x".repeat(100)) : frame(TEXT, words);
    const piece = Buffer.concat(Array.from({ length: 2_000 }, () => one));
    await times(4, async () => pour(await deaf(upgrade), piece, count));
  },
  async pipelined(session, count) {
    const page = `GET /v1/sessions/${session}/events?limit=10000 HTTP/1.1\r\nHost: localhost\r\n${auth}\r\n`;
    await times(10, async () => pour(await deaf(""), Buffer.from(page.repeat(10)), count));
  },
  /** Connections that say nothing, or half of something. */
  async silent(start, count) {
    for (let open = 0; open < Number(count); open += 100) await times(100, () => deaf(start.replaceAll("\\r\\n", "\r\n")));
  },
  /** Long reads that nobody takes. */
  async unread(path, count) {
    await times(count, () => deaf(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${auth}\r\n`));
  },
  /** Long reads, all at once. Not waited for to the last: a hundred exports take minutes, and what counts is what they do to others. */
  async reads(path, count, longestMs) {
    const signal = AbortSignal.timeout(Number(longestMs));
    const sizes = new Set();
    await times(count, async () => {
      try {
        const response = await fetch(url + path, { headers: { authorization: `Bearer ${token}` }, signal });
        if (response.status !== 200) throw new Error(`status ${response.status}`);
        let bytes = 0;
        for await (const chunk of response.body ?? []) bytes += chunk.length;
        sizes.add(bytes);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    });
    if (sizes.size > 1) throw new Error(`readings of the same thing differ: ${[...sizes]}`);
  },
};

await attacks[attack](...rest);
process.stdout.write("done\n");
process.stdin.resume().once("end", () => process.exit());
