// A client in a process of its own: opens streams, counts frames, notes when the last one came and how late clock frames were.
// Told by messages of its parent: {open: [{url, headers}], until: text each stream ends with}.
import { request } from "node:http";

const CLOCK = /"(?:d|delta)":"(\d{15,17}) "/g;
const now = () => (performance.timeOrigin + performance.now()) * 1000;

process.on("message", ({ open, until, clock, stall }) => {
  let left = open.length;
  let opened = 0;
  let frames = 0;
  let bytes = 0;
  const late = [];
  let first = 0;
  for (const { url, headers } of open) {
    request(url, { headers, agent: false }, (response) => {
      if (++opened === open.length) process.send({ opened });
      let tail = "";
      if (stall) response.pause();
      response.on("data", (chunk) => {
        first ||= now();
        bytes += chunk.length;
        const text = chunk.toString("latin1");
        for (let at = text.indexOf("\n\n"); at >= 0; at = text.indexOf("\n\n", at + 2)) frames++;
        if (clock) {
          const time = now();
          for (const [, sent] of (tail + text).matchAll(CLOCK)) late.push(time - Number(sent));
        }
        const joined = tail + text;
        const done = joined.includes(until);
        tail = clock ? "" : joined.slice(-until.length - 200);
        if (!done) return;
        response.destroy();
        if (--left === 0) process.send({ done: true, frames, bytes, first, last: now(), late: late.sort((a, b) => a - b) });
      });
      response.on("error", () => {});
    })
      .on("error", (error) => process.send({ fault: String(error) }))
      .end();
  }
});
process.on("disconnect", () => process.exit());
