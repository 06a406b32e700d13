// examples/react-chat in a real browser, served by Vite, against a real daemon.
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { createServer, type ViteDevServer } from "vite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM, launchBrowser } from "../../scripts/browser.mjs";
import { type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "../daemon-process.ts";

const folder = fileURLToPath(new URL("../../examples/react-chat/", import.meta.url));

describe.runIf(existsSync(CHROMIUM))("examples/react-chat", () => {
  let dir: string;
  let daemon: DaemonProcess;
  let vite: ViteDevServer;
  let browser: Browser;
  beforeAll(async () => {
    dir = temporaryDir("react-chat");
    const dataDir = join(dir, "data");
    mkdirSync(dataDir);
    daemon = await startDaemonProcess(dataDir);
    process.env.DRAGOMAN_DATA_DIR = dataDir;
    vite = await createServer({
      configFile: join(folder, "vite.config.ts"),
      cacheDir: join(dir, "vite"),
      logLevel: "error",
      server: { port: 0, hmr: false, watch: null },
    });
    await vite.listen();
    browser = await launchBrowser();
  });
  afterAll(async () => {
    delete process.env.DRAGOMAN_DATA_DIR;
    await browser?.close();
    await vite?.close();
    await daemon?.kill("SIGTERM");
    removeDir(dir);
  });

  it("sends, streams, and asks permissions, without the token in the page", async () => {
    const page = await browser.newPage();
    const requests: string[] = [];
    page.on("request", (request) => requests.push(JSON.stringify([request.url(), request.headers()])));
    await page.goto(vite.resolvedUrls?.local[0] ?? "");
    const message = page.getByLabel("Message");
    await page.locator("input:enabled").waitFor();
    await message.fill("say hello from the page");
    await message.press("Enter");
    await page.locator("li[data-role=assistant]", { hasText: "hello from the page" }).waitFor();
    await message.fill("ask touch c.txt");
    await message.press("Enter");
    await page.getByRole("button", { name: "Allow" }).click();
    await page.getByText("I ran it (once)").waitFor();
    expect(await page.getByRole("button", { name: "Allow" }).count()).toBe(0);
    expect(requests.some((request) => request.includes(daemon.token))).toBe(false);
  });
});
