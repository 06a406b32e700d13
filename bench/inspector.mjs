// The inspector with a session of 100 000 events and a list of 10 000 sessions, in a real browser: how long it takes to open, how evenly it scrolls, what it keeps in memory.
//   npm run bench:inspector                  the whole, about a minute
//   npm run bench:inspector -- --events=20000
//   npm run bench:inspector -- --sessions=2000
//   npm run bench:inspector -- --profile     also which functions the scrolling spent its time in
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { Dragoman } from "../dist/client/index.js";
import { launchBrowser } from "../scripts/browser.mjs";
import { startDaemon, stopped } from "../scripts/daemon.mjs";

const EVENTS = Number(process.argv.find((arg) => arg.startsWith("--events="))?.slice("--events=".length) ?? 100_000);
const SESSIONS = Number(process.argv.find((arg) => arg.startsWith("--sessions="))?.slice("--sessions=".length) ?? 10_000);
const PROFILE = process.argv.includes("--profile");
/** What a wheel does: 100 pixels a notch, here without a pause between the notches. */
const WHEEL = { distance: 12_000, speed: 2_400 };
const FRAME_MS = 1000 / 60;

const home = mkdtempSync(join(tmpdir(), "dragoman-bench-inspector-"));
const daemon = await startDaemon(join(home, "data"));

const ANSWER = `Two **causes**, both in \`parser.ts\`:

1. the last line was lost when the text had no final newline;
2. the buffer was read before it was full, see the [notes](https://example.com).

| case | before | after |
| --- | --- | --- |
| no newline | lost | kept |
| two newlines | kept | kept |

\`\`\`ts
export function lines(text: string): string[] {
  const found = text.split("\\n");
  return found.at(-1) === "" ? found.slice(0, -1) : found;
}
\`\`\``;

/** A day's work, over and over, in ever other words: reasoning, plans, commands with output, changes with their diffs, long answers in many deltas. */
const acts = (round) => [
  `think where the last line gets lost, for the ${round}th time`,
  "plan",
  "shell npm test",
  "edit",
  `say ${ANSWER}\n\nThat was case ${round}.`,
  `say It is *done*: all tests pass, nothing else was touched but \`case-${round}.ts\`.`,
];

async function longSession(api) {
  const session = await api.createSession({ agent: "mock", title: "The long one", directory: home });
  for (let last = 0, round = 1; last < EVENTS; last = (await session.get()).last_sequence, round++) {
    for (const act of acts(round)) await session.prompt(act);
    await session.prompt(`flood ${Math.min(600, Math.ceil(EVENTS / 20))}`);
  }
  await session.prompt("say the very end");
  return session;
}

const sorted = (values) => [...values].sort((a, b) => a - b);
const share = (values, part) => sorted(values)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? 0;
const ms = (value) => `${value.toFixed(1)} ms`;

async function opened(page, url) {
  const start = performance.now();
  await page.goto(url);
  await page.locator(".scroller").getByText("the very end", { exact: true }).last().waitFor();
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  return performance.now() - start;
}

/** Time between frames while the wheel turns over an element. */
async function scrolled(page, cdp, selector, direction) {
  const before = await spent(cdp);
  const box = await page.locator(selector).boundingBox();
  await page.evaluate(() => {
    window.frames_ = [];
    let last = performance.now();
    const frame = (now) => {
      window.frames_?.push(now - last);
      last = now;
      if (window.frames_) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  await cdp.send("Input.synthesizeScrollGesture", {
    x: box.x + box.width / 2,
    y: box.y + box.height / 2,
    yDistance: direction * WHEEL.distance,
    speed: WHEEL.speed,
    gestureSourceType: "mouse",
  });
  const frames = await page.evaluate(() => {
    const seen = window.frames_.slice(2);
    window.frames_ = undefined;
    return seen;
  });
  const after = await spent(cdp);
  return { frames, script: after.script - before.script, layout: after.layout - before.layout };
}

/** What the page's main thread did so far, in milliseconds. */
async function spent(cdp) {
  const value = await metricsOf(cdp);
  return { script: value("ScriptDuration") * 1000, layout: (value("LayoutDuration") + value("RecalcStyleDuration")) * 1000 };
}

async function metricsOf(cdp) {
  const { metrics } = await cdp.send("Performance.getMetrics");
  return (name) => metrics.find((each) => each.name === name)?.value ?? 0;
}

function report(name, { frames, script, layout }) {
  const missed = frames.reduce((sum, each) => sum + Math.max(0, Math.round(each / FRAME_MS) - 1), 0);
  const line = `median ${ms(share(frames, 0.5))}, p95 ${ms(share(frames, 0.95))}, longest ${ms(share(frames, 1))}`;
  console.log(
    `${name.padEnd(34)} ${line}; ${frames.length} frames, ${missed} missed; script ${script.toFixed(0)} ms, layout ${layout.toFixed(0)} ms`,
  );
}

async function profiled(cdp, act) {
  if (!PROFILE) return act();
  await cdp.send("Profiler.enable");
  await cdp.send("Profiler.start");
  const result = await act();
  const { profile } = await cdp.send("Profiler.stop");
  const own = new Map();
  const names = new Map(profile.nodes.map((node) => [node.id, node.callFrame]));
  for (const [index, id] of profile.samples.entries()) {
    const { functionName, url, lineNumber, columnNumber } = names.get(id);
    const key = `${functionName || "(anonymous)"} ${url.split("/").at(-1)}:${lineNumber}:${columnNumber}`;
    own.set(key, (own.get(key) ?? 0) + profile.timeDeltas[index] / 1000);
  }
  for (const [key, time] of [...own].sort((a, b) => b[1] - a[1]).slice(0, 25))
    console.log(`    ${time.toFixed(0).padStart(6)} ms  ${key}`);
  return result;
}

/** Copies of one short session, brought in as files: no agent is started for them. */
async function manySessions(api) {
  const first = await api.createSession({ agent: "mock", title: "Copied", directory: home });
  await first.prompt("say a line to remember");
  const file = await (await first.export()).text();
  for (let made = 0; made < SESSIONS; made += 20)
    await Promise.all(
      Array.from({ length: Math.min(20, SESSIONS - made) }, (_, index) =>
        api.importSession(file, { session_id: `copy-${String(made + index).padStart(6, "0")}` }),
      ),
    );
}

/** Until the first rows of the list are there. */
async function listed(page, url) {
  const start = performance.now();
  await page.goto(url);
  await page.locator("#session-list a").first().waitFor();
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  return performance.now() - start;
}

let browser;
try {
  const { url, token } = daemon;
  const api = new Dragoman({ url, token });
  const began = performance.now();
  const session = await longSession(api);
  const { last_sequence } = await session.get();
  console.log(
    `${cpus().length} cores, ${cpus()[0]?.model.trim()}, load ${loadavg()[0]?.toFixed(1)}; ${last_sequence} events made in ${((performance.now() - began) / 1000).toFixed(0)} s`,
  );
  browser = await launchBrowser();
  const page = await browser.newPage({ viewport: { width: 1360, height: 850 } });
  await page.goto((await api.makeLink()).url);
  await page.locator(".sidebar").waitFor();
  const there = `${url}/ui#/sessions/${session.id}`;
  const opens = [];
  for (let time = 0; time < 5; time++) {
    await page.goto("about:blank");
    opens.push(await opened(page, there));
  }
  console.log(`${"open, page and session".padEnd(34)} median ${ms(share(opens, 0.5))}, longest ${ms(share(opens, 1))}`);
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Performance.enable");
  await profiled(cdp, async () => {
    report("transcript, wheel up", await scrolled(page, cdp, ".scroller", 1));
    report("transcript, wheel down", await scrolled(page, cdp, ".scroller", -1));
  });
  await page.keyboard.press("Alt+i");
  await page.getByRole("button", { name: "Deltas" }).click();
  await page.locator("[data-sequence]").first().waitFor();
  await profiled(cdp, async () => {
    report("timeline, wheel up", await scrolled(page, cdp, ".event-list", 1));
    report("timeline, wheel down", await scrolled(page, cdp, ".event-list", -1));
  });
  if (SESSIONS > 0) {
    await manySessions(api);
    const lists = [];
    for (let time = 0; time < 3; time++) {
      await page.goto("about:blank");
      lists.push(await listed(page, `${url}/ui#/`));
    }
    console.log(`${`list of ${SESSIONS} sessions`.padEnd(34)} median ${ms(share(lists, 0.5))}, longest ${ms(share(lists, 1))}`);
    report("list, wheel down", await scrolled(page, cdp, "#session-list", -1));
    report("list, wheel up", await scrolled(page, cdp, "#session-list", 1));
  }
  await cdp.send("HeapProfiler.collectGarbage");
  const value = await metricsOf(cdp);
  console.log(`${"memory".padEnd(34)} ${(value("JSHeapUsedSize") / 1e6).toFixed(1)} MB of heap, ${value("Nodes")} nodes`);
} finally {
  await browser?.close();
  await stopped(daemon.child);
  rmSync(home, { recursive: true, force: true });
}
