// The browser of the scripts: Debian's chromium, headless, which asks nothing of anybody but the page.
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

export const CHROMIUM = process.env.CHROMIUM_PATH ?? "/usr/bin/chromium";

export function launchBrowser() {
  if (!existsSync(CHROMIUM))
    throw new Error(`There is no chromium at ${CHROMIUM}: apt-get install chromium, or set CHROMIUM_PATH to one.`);
  return chromium.launch({
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
}
