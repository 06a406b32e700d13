// The browser of the scripts: Debian's chromium, headless, which asks nothing of anybody but the page.
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

export const CHROMIUM = process.env.CHROMIUM_PATH ?? "/usr/bin/chromium";

/** A page on a loaded machine may take long; what never comes is still noticed. */
const WAIT_MS = 120_000;

export async function launchBrowser() {
  if (!existsSync(CHROMIUM))
    throw new Error(`There is no chromium at ${CHROMIUM}: apt-get install chromium, or set CHROMIUM_PATH to one.`);
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
  // A limit holds for a context and its pages: no caller can forget it.
  const open = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    const context = await open(options);
    context.setDefaultTimeout(WAIT_MS);
    return context;
  };
  return browser;
}
