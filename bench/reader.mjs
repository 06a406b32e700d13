/**
 * A client in a process of its own: opens streams, counts, notes when the last event came and how late texts with a time in them were. Its parent says what:
 * `open` [{url, headers}], `until` (text), `times` (how often a stream says it before it is done), `clock`, `count` (text to count), `stop` ({after, ms}: reads
 * nothing for so long), `patience` (ms). {finish: true} from the parent: ends when nothing has come for that long.
 */
import { request } from "node:http";

const CLOCK = /"(?:d|delta|text)":"(\d{15,17}) "/g;
const now = () => (performance.timeOrigin + performance.now()) * 1000;

/** Counts a text in a stream of chunks, also where it lies across two. */
function counter(text) {
  const mark = Buffer.from(text);
  const keep = mark.length - 1;
  let tail = Buffer.alloc(0);
  const inside = (bytes) => {
    let found = 0;
    for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, at + mark.length)) found++;
    return found;
  };
  return (chunk) => {
    const across = inside(Buffer.concat([tail, chunk.subarray(0, keep)]));
    tail = chunk.length >= keep ? Buffer.from(chunk.subarray(chunk.length - keep)) : Buffer.concat([tail, chunk]).subarray(-keep);
    return across + inside(chunk);
  };
}

let finish = () => {};
process.on("message", (message) => (message.finish ? finish() : begin(message)));
process.on("disconnect", () => process.exit());

function begin({ open, until, times = 1, clock, count, stop, patience = 1500 }) {
  const late = [];
  let left = open.length;
  let opened = 0;
  let bytes = 0;
  let counted = 0;
  let last = now();
  let quiet = null;
  const responses = new Set();

  const done = (ended) => {
    clearTimeout(quiet);
    for (const response of responses) response.destroy();
    process.send({ done: true, ended, bytes, counted, last, late: late.sort((a, b) => a - b) });
  };
  const listen = () => {
    clearTimeout(quiet);
    quiet = setTimeout(() => done(false), patience);
  };
  finish = listen;

  const follow = (response) => {
    if (response.statusCode !== 200) return process.send({ fault: `${response.statusCode} ${response.req.path}` });
    responses.add(response);
    const ends = counter(until);
    const events = count ? counter(count) : null;
    let toCome = times;
    response.on("error", () => {});
    response.on("data", (chunk) => {
      bytes += chunk.length;
      if (quiet !== null) listen();
      // Only texts with a time are looked into: with many streams the reader must not be what is measured.
      if (clock) for (const [, sent] of chunk.toString("latin1").matchAll(CLOCK)) late.push(now() - Number(sent));
      const found = events === null ? 0 : events(chunk);
      counted += found;
      if (found > 0 || events === null) last = now();
      toCome -= ends(chunk);
      if (toCome > 0) return;
      last = now();
      response.destroy();
      responses.delete(response);
      if (--left === 0) done(true);
    });
    if (stop) {
      setTimeout(() => response.pause(), stop.after);
      setTimeout(() => response.resume(), stop.after + stop.ms);
    }
    if (++opened === open.length) process.send({ opened });
  };

  for (const { url, headers } of open)
    request(url, { headers, agent: false }, follow)
      .on("error", (error) => process.send({ fault: String(error) }))
      .end();
}
