/** The parent's side of reader.mjs, and what a process has used meanwhile. */
import { fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const READER = fileURLToPath(new URL("./reader.mjs", import.meta.url));
/** No measure takes longer: what hangs ends the benchmark with an error. */
const LONGEST_MS = 180_000;

export const now = () => (performance.timeOrigin + performance.now()) * 1000;

/** Milliseconds of processor the process has used: by itself, and with what the kernel did for it. */
export const cpu = (pid) => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return { own: Number(fields[11]) * 10, all: (Number(fields[11]) + Number(fields[12])) * 10 };
};

export const rss = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;

export const percentile = (sorted, p) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] / 1000;

export async function timed(work) {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/**
 * Opens streams in a process of their own; resolves with what it counted once each has seen `until`. `begin` starts what is measured. With `lossy` the last event
 * may be missing: the reader ends when nothing more comes after `begin` has resolved.
 */
export async function read(pid, open, until, begin, { lossy = false, ...options } = {}) {
  const child = fork(READER);
  const said = [];
  const waiting = [];
  const heard = (fits) =>
    new Promise((resolve, reject) => {
      const look = () => {
        const fault = said.find((message) => message.fault);
        const found = said.find(fits);
        if (fault) reject(new Error(fault.fault));
        else if (found) resolve(found);
        else waiting.push(look);
      };
      look();
    });
  const say = (message) => {
    said.push(message);
    for (const look of waiting.splice(0)) look();
  };
  child.on("message", say);
  const alarm = setTimeout(() => say({ fault: `nothing ended within ${LONGEST_MS / 1000} s` }), LONGEST_MS);
  try {
    child.send({ open, until, ...options });
    await heard((message) => message.opened === open.length);
    const began = now();
    const used = cpu(pid);
    const begun = Promise.resolve(begin());
    await (lossy ? begun.then(() => child.send({ finish: true })) : begun);
    const counted = await heard((message) => message.done);
    const { own, all } = cpu(pid);
    return { ...counted, seconds: (counted.last - began) / 1e6, own: own - used.own, all: all - used.all };
  } finally {
    clearTimeout(alarm);
    if (child.connected) child.disconnect();
  }
}
