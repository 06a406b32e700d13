// Makes the screenshots of README and docs: a real daemon, agents at a day's work, a real browser.
//   npm run screenshots                        the pictures of the docs
//   npm run screenshots -- --all=FOLDER        every main view, light and dark, 1440, 1024 and 390 wide
//   … --sizes=1440-light,390-dark              only some of the six
//   … --only=usage,palette                     some views; a view that fails is named, and the others go on
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { mockAgent } from "../build/agents/mock/agent.js";
import { verifyCommand } from "../build/verify/verify-command.js";
import { Dragoman } from "../dist/client/index.js";
import { launchBrowser } from "./browser.mjs";
import { startDaemon, stopped } from "./daemon.mjs";
import { work } from "./screenshot-sessions.mjs";
import { viewsOf } from "./screenshot-views.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const images = join(root, "docs/images");
const home = mkdtempSync(join(tmpdir(), "dragoman-screenshots-"));
const daemon = await startDaemon(join(home, "data"));

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

/** One page a width: its themes are pictures of the same page. `pictures` are [file, theme]. */
async function shoot({ on = "full", hash, path = "/", wait, act, role = "operate" }, width, pictures) {
  const phone = width < 500;
  const at = on === "empty" ? await emptyDaemon() : daemon;
  const storageState = await storageOf(at, role);
  const context = await browser.newContext({
    viewport: { width, height: phone ? 844 : 900 },
    deviceScaleFactor: phone || all ? 1 : 1.25,
    colorScheme: pictures[0][1],
    reducedMotion: "reduce",
    ...(storageState ? { storageState } : {}),
    ...(phone ? { hasTouch: true, isMobile: true } : {}),
  });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    await page.goto(`${at.url}${path}${hash ? `#${hash}` : ""}`);
    await page.locator(wait).first().waitFor();
    await act?.(page);
    await page.evaluate((from) => {
      for (const path of document.querySelectorAll(".agent-path"))
        path.textContent = path.textContent.replace(from, "/usr/lib/node_modules/dragoman/");
    }, root);
    await page.evaluate(() => document.fonts.ready);
    for (const [file, colorScheme] of pictures) {
      await page.emulateMedia({ colorScheme });
      await coloured(page);
      await page.screenshot({ path: join(folder, `${file}.png`) });
    }
  } finally {
    await context.close();
  }
}

/** Colours of code come when the code has rested for a moment; some code has none. */
async function coloured(page) {
  for (const code of [".code-block code", ".diff-code"])
    if (await page.locator(code).count())
      await page
        .locator(`${code} span[style], ${code} .token`)
        .first()
        .waitFor({ state: "attached", timeout: 5_000 })
        .catch(() => {});
}

/** Every view at every size, or the pictures of the docs; by view and width. */
function wanted(views) {
  if (!all) return views.filter(({ docs }) => docs).map((view) => [view, view.docs[2], [[view.docs[0], view.docs[1]]]]);
  const widths = [...new Set(sizes.map((size) => Number.parseInt(size, 10)))];
  const picturesOf = (name, width) =>
    sizes.filter((size) => Number.parseInt(size, 10) === width).map((size) => [`${name}-${size}`, size.split("-")[1]]);
  return views
    .filter(({ again }) => !again)
    .flatMap((view) => widths.map((width) => [view, width, picturesOf(view.name, width)]));
}

let close;
try {
  const { url, token } = daemon;
  const { shown, ...worked } = await work(new Dragoman({ url, token }), home);
  close = worked.close;
  mkdirSync(folder, { recursive: true });
  const views = viewsOf(shown).filter(({ name }) => only?.includes(name) ?? true);
  // The agents page shows what verify found out.
  const quiet = { write: () => {} };
  if (views.some(({ name }) => name === "agents" || name === "matrix"))
    await verifyCommand(
      { agents: [mockAgent.id], dataDir: join(home, "data") },
      { stdout: quiet, stderr: quiet, env: process.env },
    );
  for (const [view, width, pictures] of wanted(views))
    await shoot(view, width, pictures).catch((error) => {
      process.exitCode = 1;
      console.error(`${view.name} at ${width}: ${error.message.split("\n")[0]}`);
    });
} finally {
  await browser.close();
  if (empty) await stopped((await empty).child);
  await stopped(daemon.child);
  await close?.();
  rmSync(home, { recursive: true, force: true });
}
