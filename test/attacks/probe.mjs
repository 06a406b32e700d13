// Watches a daemon from a process of its own: how much memory it has, and how long `/v1/health` takes. Prints what it saw when its input ends.
// Arguments: the daemon's pid and its URL.
import { readFileSync } from "node:fs";
import { request } from "node:http";

const [pid, url] = process.argv.slice(2);
const rss = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
const began = rss();
const seen = { began, peak: began, slowest: 0, answers: 0, failures: [] };
const sampling = setInterval(() => {
  seen.peak = Math.max(seen.peak, rss());
}, 20);

function ask() {
  const start = performance.now();
  const late = setTimeout(() => seen.failures.push("no answer within 10 s"), 10_000);
  return new Promise((resolve) => {
    const done = (failure) => {
      clearTimeout(late);
      seen.slowest = Math.max(seen.slowest, performance.now() - start);
      if (failure === undefined) seen.answers += 1;
      else seen.failures.push(failure);
      resolve();
    };
    request(`${url}/v1/health`, { agent: false }, (response) => {
      response.resume().once("end", () => done(response.statusCode === 200 ? undefined : `status ${response.statusCode}`));
    })
      .once("error", (error) => done(error.message))
      .end();
  });
}

let ending = false;
process.stdin.resume().once("end", () => {
  ending = true;
});
process.stdout.write("ready\n");
while (!ending) {
  await ask();
  await new Promise((resolve) => setTimeout(resolve, 25));
}
clearInterval(sampling);
process.stdout.write(`${JSON.stringify(seen)}\n`);
process.exit();
