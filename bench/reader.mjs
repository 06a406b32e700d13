// A client in a process of its own: opens streams, counts bytes, notes when the last event came and how late clock frames were.
// Told by messages of its parent: {open: [{url, headers}], until: text each stream ends with, clock}.
import { request } from "node:http";

const CLOCK = /"(?:d|delta)":"(\d{15,17}) "/g;
const now = () => (performance.timeOrigin + performance.now()) * 1000;

process.on("message", ({ open, until, clock }) => {
  const mark = Buffer.from(until);
  const late = [];
  let left = open.length;
  let opened = 0;
  let bytes = 0;

  const follow = (response) => {
    if (++opened === open.length) process.send({ opened });
    let tail = Buffer.alloc(0);
    response.on("error", () => {});
    response.on("data", (chunk) => {
      bytes += chunk.length;
      // Only clock frames are looked into: with many streams the reader must not be what is measured.
      if (clock) for (const [, sent] of chunk.toString("latin1").matchAll(CLOCK)) late.push(now() - Number(sent));
      const seam = Buffer.concat([tail, chunk.subarray(0, mark.length)]);
      tail = Buffer.from(chunk.subarray(-mark.length));
      if (!chunk.includes(mark) && !seam.includes(mark)) return;
      response.destroy();
      if (--left === 0) process.send({ done: true, bytes, last: now(), late: late.sort((a, b) => a - b) });
    });
  };

  for (const { url, headers } of open)
    request(url, { headers, agent: false }, follow)
      .on("error", (error) => process.send({ fault: String(error) }))
      .end();
});
process.on("disconnect", () => process.exit());
