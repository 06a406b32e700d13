// Where the memory of a daemon is, and whether it stays there. Linux: reads /proc.
import { readdirSync, readFileSync } from "node:fs";

const MB = 1024 * 1024;

/** In MB. `program`: mapped files. `total`: what V8 has for objects, `heap` of it in use. `external`: buffers that objects hold. `native`: everything else, mostly the allocator, with the buffers in it. */
export async function memoryOf({ pid, url, token }) {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const kb = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(rollup)?.[1]) * 1024;
  const metrics = await (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })).text();
  const of = (name) => Number(new RegExp(`^nodejs_${name}_bytes ([\\d.e+]+)`, "m").exec(metrics)?.[1]);
  const [rss, anonymous, total] = [kb("Rss"), kb("Anonymous"), of("heap_size_total")];
  return {
    rss: rss / MB,
    program: (rss - anonymous) / MB,
    heap: of("heap_size_used") / MB,
    total: total / MB,
    external: of("external_memory") / MB,
    native: (anonymous - total) / MB,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
  };
}

/** How much a line through the values rises in a minute. */
export function slopeOf(samples, name) {
  const mean = (of) => samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const [time, value] = [mean((sample) => sample.minute), mean((sample) => sample[name])];
  const above = mean((sample) => (sample.minute - time) * (sample[name] - value));
  const below = mean((sample) => (sample.minute - time) ** 2);
  return below === 0 ? 0 : above / below;
}
