// Makes the screenshots of README and docs: a real daemon, the mock agent acting out a day's work, a real browser.
//   npm run build && node scripts/screenshots.mjs                the pictures of the docs
//   npm run build && node scripts/screenshots.mjs --all=FOLDER   every main view, light and dark, 1440, 1024 and 390 wide
//   … --sizes=1440-light,390-dark                                only some of the six
//   … --only=usage,palette                                       some views; a view that fails is named, and the others go on
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { mockAgent } from "../build/agents/mock/agent.js";
import { verifyCommand } from "../build/verify/verify-command.js";
import { Dragoman } from "../dist/client/index.js";
import { launchBrowser } from "./browser.mjs";
import { startDaemon, stopped } from "./daemon.mjs";
import { viewsOf } from "./screenshot-views.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const images = join(root, "docs/images");
const home = mkdtempSync(join(tmpdir(), "dragoman-screenshots-"));
const daemon = await startDaemon(join(home, "data"));

/** The mock is asked to act things out; readers of a screenshot want a conversation. Each line: what the mock's session says, what the picture says. */
const CONVERSATION = [
  ["think about where the last line gets lost", "Two parser tests fail since yesterday. Find out why and fix it."],
  ["Let me think about this.", "about where the last line gets lost"],
  [
    "So that is the answer.",
    "The reader drops what is left in its buffer when a chunk ends in the middle of a line. I start with the tests.",
  ],
  ["shell npm test", "Go on."],
  ["I run a command.", "First I run the suite to see the failing cases."],
  ["first line\nsecond line\n", "\n 42 passed\n  2 failed  parser.test.ts › keeps a line that spans two chunks\n"],
  ["It worked.", "Both failures are about lines that span two chunks."],
  ["I change a file.", "I put the rest of the last chunk before the next one:"],
  ["Edit hello.txt", "src/parser.ts"],
  ["hello.txt", "src/parser.ts"],
  [
    "@@ -1,2 +1,2 @@\n-hello\n+hello world\n again\n",
    '@@ -18,5 +18,5 @@ export class LineReader {\n   push(chunk: string): string[] {\n-    const lines = chunk.split("\\n");\n-    lines.pop();\n+    const lines = (this.#rest + chunk).split("\\n");\n+    this.#rest = lines.pop() ?? "";\n     return lines;\n   }\n',
  ],
];
const USER_WORDS = [
  ["plan", "Make a plan first."],
  ["edit", "Yes, fix it."],
];
const PLAN = [
  ["Look", "Find the failing case"],
  ["Change", "Keep the rest of the buffer"],
  ["Test", "Run the whole suite"],
];
const ANSWER =
  "Fixed. A line that spans two chunks is now kept: `push` puts the rest of the last chunk before the next one. All **44 tests** pass; the change is one method in `src/parser.ts`.";

const inJson = (text) => JSON.stringify(text).slice(1, -1);

/** Deltas must add up to the item they grew into, and native messages must say what their events say. */
function inStep(told) {
  const lines = told.map((line) => JSON.parse(line));
  const natives = lines.filter((line) => line.kind === "native");
  const events = lines.filter((line) => line.kind === "event");
  for (const { event } of events) {
    if (event.type !== "item.completed") continue;
    const { item } = event.data;
    item.content.forEach((part, index) => {
      const deltas = events.filter(
        ({ event: each }) => each.type === "item.delta" && each.data.item_id === item.item_id && each.data.part_index === index,
      );
      const words = (part.text ?? part.output ?? "").match(/\S+\s*|\s+/g) ?? [];
      deltas.forEach(({ event: each, native }, at) => {
        each.data.delta = (at === deltas.length - 1 ? words.slice(at) : words.slice(at, at + 1)).join("");
        const line = natives[native - 1];
        if (!line || each.source !== "agent") return;
        const message = JSON.parse(Buffer.from(line.base64, "base64").toString());
        line.base64 = Buffer.from(JSON.stringify({ ...message, d: each.data.delta })).toString("base64");
      });
    });
  }
  return lines.map((line) => JSON.stringify(line)).join("\n");
}

function reworded(text) {
  let words = text.replaceAll(inJson(`say ${ANSWER}`), inJson("Thank you. What was it?"));
  for (const [from, to] of CONVERSATION) words = words.replaceAll(inJson(from), inJson(to));
  for (const [from, to] of [...PLAN, ...USER_WORDS]) words = words.replaceAll(`"text":"${from}"`, `"text":"${to}"`);
  return words;
}

/** The same session with other words, through export and import. */
async function retold(api, session, title) {
  const lines = (await (await session.export()).text()).trim().split("\n");
  const told = lines.map((line) => {
    const part = JSON.parse(line);
    if (part.kind !== "native") return reworded(line);
    const body = reworded(Buffer.from(part.base64, "base64").toString());
    return JSON.stringify({ ...part, base64: Buffer.from(body).toString("base64") });
  });
  await session.remove();
  await api.importSession(inStep(told), { session_id: session.id });
  await session.update({ title });
  return session;
}

/** Slow enough that the turn still runs when the last picture is taken. */
const A_WORD_MS = 8_000;
const BEFORE =
  'export class LineReader {\n  push(chunk: string): string[] {\n    const lines = chunk.split("\\n");\n    lines.pop();\n    return lines;\n  }\n}\n';
const AFTER = BEFORE.replace("chunk.split", "(this.#rest + chunk).split")
  .replace("lines.pop();", 'this.#rest = lines.pop() ?? "";')
  .replace("{\n", '{\n  #rest = "";\n\n');

/** Files that really change while a turn runs: the mock only tells of changes. */
async function edited(api) {
  const directory = join(home, "reader");
  mkdirSync(join(directory, "src"), { recursive: true });
  writeFileSync(join(directory, "src/line-reader.ts"), BEFORE);
  const title = "Keep the rest of the last chunk";
  const session = await api.createSession({ agent: mockAgent.id, directory, title });
  await session.send("hold");
  for await (const event of session.events()) {
    if (event.type === "turn.started") {
      writeFileSync(join(directory, "src/line-reader.ts"), AFTER);
      writeFileSync(join(directory, "CHANGES.md"), "- A line that spans two chunks is kept.\n");
      await session.send("say Done.", { when_busy: "steer" });
    }
    if (event.type === "turn.ended") break;
  }
  await session.update({ title });
  return session;
}

async function work(api) {
  const made = async (name, title, acts) => {
    const directory = join(home, name);
    mkdirSync(directory, { recursive: true });
    const session = await api.createSession({ agent: mockAgent.id, directory, ...(title ? { title } : {}) });
    for (const act of acts) await session.prompt(act);
    if (title) await session.update({ title });
    return session;
  };
  await made("website", "Move the site to the new build", ["say Done: all pages build, links are checked.", "facts"]);
  const failed = await made("payments", "Why does the nightly job time out?", ["subagent", "error rate_limit"]);
  const steps = await made("editor", "Try every kind of step", ["plan\nargs\nfail\nthink about it\nedit"]);
  const ended = await made("archive", "Pack the old reports", ["say All packed."]);
  await ended.terminate();
  const acts = ["think about where the last line gets lost", "plan", "shell npm test", "edit", `say ${ANSWER}`];
  const title = "Fix the failing parser tests";
  const main = await retold(api, await made("parser", title, acts), title);
  const asking = await made("deploy", "Ship release 2.4", ["shell git status"]);
  await asking.send("ask rm -rf dist && npm run release");
  const question = await made("design", "Colours for the new theme", []);
  await question.send("question");
  const running = await made("website", "Check every link of the site", []);
  await running.send(`slow ${A_WORD_MS} ${"I check every link of the site, one after the other. ".repeat(12).trim()}`);
  return { main, asking, question, running, failed, steps, ended, edited: await edited(api) };
}

const browser = await launchBrowser();
const all = process.argv.find((arg) => arg.startsWith("--all="))?.slice("--all=".length);
const only = process.argv
  .find((arg) => arg.startsWith("--only="))
  ?.slice("--only=".length)
  .split(",");
const sizes =
  process.argv
    .find((arg) => arg.startsWith("--sizes="))
    ?.slice("--sizes=".length)
    .split(",") ?? [1440, 1024, 390].flatMap((width) => [`${width}-light`, `${width}-dark`]);
const folder = all ?? images;

/** A daemon as a new user has it: no session yet. */
let empty;
const emptyDaemon = () => {
  empty ??= startDaemon(join(home, "empty"), { env: { ...process.env, HOME: join(home, "new-user") } });
  return empty;
};

/** One sign-in a daemon and role, whatever the number of pictures: links and page tokens are limited. */
const signedIn = new Map();
function storageOf({ url, token }, role) {
  if (role === null) return undefined;
  const key = `${url} ${role}`;
  const known = signedIn.get(key) ?? signIn({ url, token }, role);
  signedIn.set(key, known);
  return known;
}

async function signIn({ url, token }, role) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto((await new Dragoman({ url, token }).makeLink({ role })).url);
  const held = await page.waitForFunction(() => localStorage.getItem("dragoman.token")).then((found) => found.jsonValue());
  await context.close();
  return { cookies: [], origins: [{ origin: url, localStorage: [{ name: "dragoman.token", value: held }] }] };
}

async function shoot(file, { on = "full", hash, path = "/", wait, act, role = "operate" }, theme, width) {
  const phone = width < 500;
  const at = on === "empty" ? await emptyDaemon() : daemon;
  const storageState = await storageOf(at, role);
  const context = await browser.newContext({
    viewport: { width, height: phone ? 844 : 900 },
    deviceScaleFactor: phone || all ? 1 : 1.25,
    colorScheme: theme,
    reducedMotion: "reduce",
    ...(storageState ? { storageState } : {}),
    ...(phone ? { hasTouch: true, isMobile: true } : {}),
  });
  const page = await context.newPage();
  await page.goto(`${at.url}${path}${hash ? `#${hash}` : ""}`);
  await page.locator(wait).first().waitFor();
  await act?.(page);
  await page.evaluate((from) => {
    for (const path of document.querySelectorAll(".agent-path"))
      path.textContent = path.textContent.replace(from, "/usr/lib/node_modules/dragoman/");
  }, root);
  await page.evaluate(() => document.fonts.ready);
  // Colours of code come when the code has rested for a moment.
  if (await page.locator(".code-block code").count())
    await page
      .locator(".code-block code span[style]")
      .first()
      .waitFor({ state: "attached", timeout: 5_000 })
      .catch(() => {});
  await page.screenshot({ path: join(folder, `${file}.png`) });
  await context.close();
}

try {
  const { url, token } = daemon;
  const shown = await work(new Dragoman({ url, token }));
  mkdirSync(folder, { recursive: true });
  const views = viewsOf(shown).filter(({ name }) => only?.includes(name) ?? true);
  // The agents page shows what verify found out.
  const quiet = { write: () => {} };
  if (views.some(({ name }) => name === "agents"))
    await verifyCommand(
      { agents: [mockAgent.id], dataDir: join(home, "data") },
      { stdout: quiet, stderr: quiet, env: process.env },
    );
  for (const view of views) {
    const pictures = all
      ? view.again
        ? []
        : sizes.map((size) => [`${view.name}-${size}`, size.split("-")[1], Number.parseInt(size, 10)])
      : view.docs
        ? [view.docs]
        : [];
    for (const [file, theme, width] of pictures)
      await shoot(file, view, theme, width).catch((error) => {
        process.exitCode = 1;
        console.error(`${file}: ${error.message.split("\n")[0]}`);
      });
  }
} finally {
  await browser.close();
  if (empty) await stopped((await empty).child);
  await stopped(daemon.child);
  rmSync(home, { recursive: true, force: true });
}
