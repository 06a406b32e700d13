// A real daemon with the mock agent and one real browser, shared by all cases. Every page is watched: no error, no breach of the policy, no request elsewhere.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Locator, Page } from "playwright-core";
import { CHROMIUM, launchBrowser } from "../../scripts/browser.mjs";
import { Dragoman, type Role, type SessionHandle } from "../../src/client/index.ts";
import type { Config } from "../../src/daemon/config.ts";
import { type Daemon, startDaemon } from "../../src/daemon/daemon.ts";

export const hasBrowser = existsSync(CHROMIUM);

/** `before` runs in the page before anything else does. */
type WindowOptions = { dark?: boolean; narrow?: boolean; before?: () => void };

/** Follows a link and waits until the page has traded it: a page that is loaded again, or whose storage is emptied before that, loses or regains its sign-in. */
async function visit(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.waitForFunction(
    () => localStorage.getItem("dragoman.token") !== null || document.querySelector(".refused") !== null,
  );
}

export class World {
  readonly directory = mkdtempSync(join(tmpdir(), "dragoman-ui-"));
  readonly faults: string[] = [];
  readonly #config: Config;
  readonly #env: NodeJS.ProcessEnv | undefined;
  #daemon: Daemon | undefined;
  #browser: Browser | undefined;
  #shared: Page | undefined;
  readonly #others: Page[] = [];
  #count = 0;

  /** `env`: of the daemon, instead of that of the tests. */
  constructor(config: Config = {}, env?: NodeJS.ProcessEnv) {
    this.#config = config;
    this.#env = env;
  }

  get daemon(): Daemon {
    if (!this.#daemon) throw new Error("the daemon is not started");
    return this.#daemon;
  }

  get api(): Dragoman {
    return new Dragoman({ url: this.daemon.url, token: this.daemon.token });
  }

  async start(): Promise<void> {
    this.#browser = await launchBrowser();
    await this.startDaemon(0);
  }

  async startDaemon(port: number): Promise<void> {
    const { directory } = this;
    const env = this.#env ? { env: this.#env } : {};
    this.#daemon = await startDaemon({ port, dataDir: join(directory, "data"), directory, config: this.#config, ...env });
  }

  async stop(): Promise<void> {
    await this.#browser?.close();
    await this.#daemon?.close();
    rmSync(this.directory, { recursive: true, force: true });
  }

  session(title: string): Promise<SessionHandle> {
    return this.api.createSession({ agent: "mock", session_id: `case-${++this.#count}`, title, directory: this.directory });
  }

  /** The one window most cases share, signed in by a link. */
  async window(hash: string): Promise<Page> {
    if (!this.#shared) {
      this.#shared = await this.#open({});
      await visit(this.#shared, `${await this.link()}&at=${hash}`);
    } else {
      await this.#shared.keyboard.press("Escape");
      // Followed when this resolves: a click that comes earlier may meet the page that goes.
      await this.#shared.evaluate(async (next) => {
        if (location.hash === next) return;
        const followed = new Promise((resolve) => addEventListener("hashchange", resolve, { once: true }));
        location.hash = next;
        await followed;
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      }, `#${hash}`);
    }
    await this.#shared.locator(".sidebar").waitFor();
    return this.#shared;
  }

  /** For one visit, as `dragoman open` makes it. */
  async link(role: Role = "operate"): Promise<string> {
    return (await this.api.makeLink({ role })).url;
  }

  /** A window of its own. */
  async otherWindow(hash: string, options: WindowOptions & { role?: Role; link?: string } = {}): Promise<Page> {
    const page = await this.#open(options);
    this.#others.push(page);
    await visit(page, options.link ?? `${await this.link(options.role)}&at=${hash}`);
    await page.locator(".page").first().waitFor();
    return page;
  }

  async #open({ dark = false, narrow = false, before }: WindowOptions): Promise<Page> {
    if (!this.#browser) throw new Error("the browser is not started");
    const context = await this.#browser.newContext({
      viewport: narrow ? { width: 390, height: 800 } : { width: 1280, height: 800 },
      colorScheme: dark ? "dark" : "light",
      permissions: ["clipboard-read", "clipboard-write"],
    });
    if (before) await context.addInitScript(before);
    const page = await context.newPage();
    this.#watch(page);
    return page;
  }

  #watch(page: Page): void {
    page.on("pageerror", (error) => this.faults.push(`page error: ${error.message}`));
    page.on("console", (message) => {
      if (/Content Security Policy/i.test(message.text())) this.faults.push(message.text());
    });
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(`${this.daemon.url}/`) && !/^(data|blob):/.test(url)) this.faults.push(`foreign request: ${url}`);
    });
  }

  async closeOthers(): Promise<void> {
    await Promise.all(this.#others.splice(0).map((page) => page.context().close()));
  }
}

export const at = (session: SessionHandle): string => `/sessions/${session.id}`;

/** Writes into the composer and sends with Enter. */
export async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel("Message", { exact: true }).fill(text);
  await page.keyboard.press("Enter");
}

/** A chord that comes too soon after its request appeared is not taken: it may have been meant for another one. Pressed until the request is gone. */
export async function answerByChord(page: Page, chord: string): Promise<void> {
  const card = page.locator(".request.permission");
  for (;;) {
    await page.keyboard.press(chord);
    const gone = await card.waitFor({ state: "detached", timeout: 500 }).then(
      () => true,
      () => false,
    );
    if (gone) return;
  }
}

/** Opens the debugging drawer at its timeline, if it is not open. */
export async function openDrawer(page: Page): Promise<void> {
  const button = page.getByRole("button", { name: /the debugging drawer/ });
  if ((await button.getAttribute("aria-pressed")) !== "true") await button.click();
  await page.getByRole("tab", { name: "Timeline" }).click();
}

/** Opens a list to choose from, and chooses the option with this value. */
export async function choose(page: Page, button: Locator, value: string): Promise<void> {
  await button.click();
  await page.locator(`[role=option][data-value="${value}"]`).click();
}

/** Shows only some sessions of the list. */
export async function showOnly(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name: "Filter and group" }).click();
  await page.getByRole("menuitemradio", { name, exact: true }).click();
  await page.getByRole("menu").waitFor({ state: "detached" });
}
