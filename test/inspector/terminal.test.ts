// The terminal component in a real browser, under the policy of the daemon's pages, with a real program behind it.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { build } from "vite";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { launchBrowser } from "../../scripts/browser.mjs";
import type { TaskEvent } from "../../src/schema/task.ts";
import { PAGE_POLICY } from "../../src/server/security-headers.ts";
import { ProcessRegistry } from "../../src/transports/index.ts";
import { Tasks } from "../../src/workspace/tasks/index.ts";
import { hasBrowser } from "./world.ts";

type FromPage = { do: "join" | "close" } | { do: "write"; data: string } | { do: "resize"; size: { rows: number; cols: number } };

const TYPES: Record<string, string> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };
const page = fileURLToPath(new URL("terminal-page.tsx", import.meta.url));

describe.skipIf(!hasBrowser)("the terminal component", () => {
  const dir = mkdtempSync(join(tmpdir(), "terminal-page-"));
  const faults: string[] = [];
  const heard: FromPage[] = [];
  const listeners = new Set<(event: TaskEvent) => void>();
  const events: TaskEvent[] = [];
  let browser: Browser;
  let server: Server;
  let sockets: WebSocketServer;
  let tasks: Tasks;
  let taskId = "";
  let url = "";

  beforeAll(async () => {
    mkdirSync(join(dir, "page"));
    writeFileSync(
      join(dir, "page", "index.html"),
      `<!doctype html><div id="root"></div><script type="module" src="${page}"></script>`,
    );
    await build({
      configFile: false,
      logLevel: "silent",
      root: join(dir, "page"),
      build: {
        outDir: join(dir, "built"),
        emptyOutDir: true,
        target: "es2023",
        assetsInlineLimit: 0,
        modulePreload: { polyfill: false },
      },
      server: { fs: { strict: false } },
    });
    const append = (event: TaskEvent): void => {
      events.push(event);
      for (const listener of listeners) listener(event);
    };
    tasks = new Tasks({ sink: { append }, recorder: new ProcessRegistry(join(dir, "processes")) });
    server = createServer((request, response) => {
      const path = new URL(request.url ?? "/", "http://localhost").pathname;
      const file = join(dir, "built", path === "/" ? "index.html" : path);
      response.setHeader("content-security-policy", PAGE_POLICY).setHeader("content-type", TYPES[extname(file)] ?? "text/plain");
      try {
        response.end(readFileSync(file));
      } catch {
        response.writeHead(404).end();
      }
    });
    sockets = new WebSocketServer({ server, path: "/socket" });
    sockets.on("connection", connect);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/`;
    browser = await launchBrowser();
  });
  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
    await tasks.cancel(taskId, "next case");
    events.length = 0;
    heard.length = 0;
    expect(faults.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    for (const client of sockets?.clients ?? []) client.terminate();
    await tasks?.close();
    await new Promise((resolve) => server.close(resolve));
    rmSync(dir, { recursive: true, force: true });
  });

  /** Screen first, then what follows it: how a daemon serves one who joins. */
  function connect(socket: WebSocket): void {
    const send = (message: object): void => socket.send(JSON.stringify(message));
    const tell = (event: TaskEvent): void => {
      if (event.type === "task.output") send({ type: "output", text: event.data.chunk });
      if (event.type === "task.resized") send({ type: "size", rows: event.data.rows, cols: event.data.cols });
      if (event.type === "task.status" && event.data.ended_at)
        send({ type: "ended", reason: `exit code ${event.data.exit_code}` });
    };
    socket.on("close", () => listeners.delete(tell));
    socket.on("message", async (data) => {
      const message: FromPage = JSON.parse(String(data));
      heard.push(message);
      if (message.do === "write") tasks.write(taskId, Buffer.from(message.data));
      if (message.do === "resize") await tasks.resize(taskId, message.size);
      if (message.do !== "join") return;
      const { serialized, rows, cols, offset } = await tasks.screen(taskId);
      send({ type: "screen", serialized, rows, cols });
      for (const event of events) if (event.type === "task.output" && (event.data.offset ?? 0) >= offset) tell(event);
      listeners.add(tell);
    });
  }

  async function run(command: string): Promise<void> {
    const place = { root: null, environment: { PATH: process.env.PATH, LANG: "C.UTF-8" } };
    ({ task_id: taskId } = await tasks.start({ command, execution_mode: "pty", rows: 10, cols: 40 }, place));
  }

  async function open(search = "", colorScheme: "light" | "dark" = "light"): Promise<Page> {
    const context = await browser.newContext({ viewport: { width: 900, height: 500 }, colorScheme });
    const opened = await context.newPage();
    opened.on("pageerror", (error) => faults.push(`page error: ${error.message}`));
    opened.on("console", (message) => {
      if (/Content Security Policy/i.test(message.text())) faults.push(message.text());
    });
    await opened.goto(`${url}${search}`);
    return opened;
  }

  const sees = (shown: Page, text: string) => shown.locator(".xterm-rows").getByText(text).first().waitFor();
  const wrote = async (pattern: RegExp): Promise<void> => {
    const text = (): string => events.flatMap((event) => (event.type === "task.output" ? [event.data.chunk] : [])).join("");
    while (!pattern.test(text())) await new Promise((resolve) => setTimeout(resolve, 10));
  };

  it("shows what was there before, what follows, and what is typed, with colours, within the policy", async () => {
    await run("printf 'before \\033[38;2;1;120;3mgreen\\033[0m \\033[7minverse\\033[0m\\n'; exec cat");
    await wrote(/inverse/);
    const shown = await open();
    await sees(shown, "before");
    const colour = await shown
      .locator(".xterm-rows span", { hasText: "green" })
      .last()
      .evaluate((node) => getComputedStyle(node).color);
    expect(colour).toBe("rgb(1, 120, 3)");
    const height = await shown
      .locator(".xterm-rows > div")
      .first()
      .evaluate((node) => node.getBoundingClientRect().height);
    expect(height).toBeGreaterThan(10);
    await shown.locator(".xterm-helper-textarea").focus();
    await shown.keyboard.type("hello");
    await shown.keyboard.press("Enter");
    await sees(shown, "hello");
    await wrote(/hello\r\nhello/);
    // A key of another country's keyboard, and text that comes without a key (an input method, a voice).
    const keys = await shown.context().newCDPSession(shown);
    await keys.send("Input.dispatchKeyEvent", { type: "keyDown", key: "é", text: "é", windowsVirtualKeyCode: 50 });
    await keys.send("Input.dispatchKeyEvent", { type: "keyUp", key: "é", windowsVirtualKeyCode: 50 });
    await shown.keyboard.insertText("ü€");
    await shown.keyboard.press("Enter");
    await wrote(/éü€\r\néü€/);
  });

  it("asks for the size that fits, and takes that of others", async () => {
    await run("trap 'stty size' WINCH; echo ready; while :; do sleep 0.05; done");
    const shown = await open();
    await sees(shown, "ready");
    await wrote(/\d+ \d+\r\n/);
    const asked = heard.find((message) => message.do === "resize");
    expect(asked).toMatchObject({ size: { rows: expect.any(Number), cols: expect.any(Number) } });
    const { rows, cols } = tasks.get(taskId);
    expect(cols).toBeGreaterThan(60);
    await sees(shown, `${rows} ${cols}`);
    await tasks.resize(taskId, { rows: 12, cols: 50 });
    await sees(shown, "12 50");
    expect(await shown.locator(".xterm-rows > div").count()).toBe(12);
  });

  it("read only: nothing goes out, not even a size", async () => {
    await run("echo ready; exec cat");
    const shown = await open("?read-only");
    await sees(shown, "ready");
    await shown.locator(".xterm-helper-textarea").focus();
    await shown.keyboard.type("secret");
    tasks.write(taskId, Buffer.from("from elsewhere\n"));
    await sees(shown, "from elsewhere");
    expect(heard.map((message) => message.do)).toEqual(["join"]);
  });

  it("a program's question is answered once, by the page with the focus, and never from a replay", async () => {
    await run("stty raw -echo; printf 'ask\\033[c'; read x; printf '\\033[c'; head -c 5 | od -c; sleep 600");
    await wrote(/ask/);
    const [one, other] = [await open(), await open()];
    await Promise.all([sees(one, "ask"), sees(other, "ask")]);
    await one.locator(".xterm-helper-textarea").focus();
    tasks.write(taskId, Buffer.from("\n"));
    await sees(other, "033");
    const written = heard.flatMap((message) => (message.do === "write" ? [message.data] : []));
    expect(written).toHaveLength(1);
    expect(written[0]).toContain("\u001b[?");
  });

  it("can be left with the keyboard, says when the program ended, and closes its transport", async () => {
    await run("echo ready; read x; exit 4");
    const shown = await open("", "dark");
    await sees(shown, "ready");
    await shown.locator(".xterm-helper-textarea").focus();
    await shown.keyboard.press("Shift+Escape");
    expect(await shown.evaluate(() => document.activeElement?.className)).toBe("terminal-host");
    await shown.locator(".xterm-helper-textarea").focus();
    await shown.keyboard.press("Enter");
    await shown.getByText("exit code 4").waitFor();
    await shown.evaluate(() => window.dispatchEvent(new Event("leave")));
    while (!heard.some((message) => message.do === "close")) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(await shown.evaluate(() => document.adoptedStyleSheets.length)).toBe(0);
    expect(await shown.evaluate(() => Object.hasOwn(document, "createElement"))).toBe(false);
  });

  it.each(["light", "dark"] as const)(
    "axe finds no serious fault in the %s theme, whatever colours a program uses",
    async (theme) => {
      const colours =
        "for c in 30 31 32 33 34 35 36 37 90 91 92 93 94 95 96 97; do printf '\\033[%sm%s colour\\033[0m ' $c $c; done";
      await run(`${colours}; printf '\\033[38;2;200;200;10mpale\\033[0m \\033[2mdim\\033[0m\\n'; echo ready; exec cat`);
      await wrote(/ready/);
      const shown = await open("", theme);
      await sees(shown, "ready");
      await shown.evaluate(axe.source);
      const found = await shown.evaluate(async () => {
        const { axe: engine } = window as unknown as { axe: typeof axe };
        const { violations } = await engine.run(document.querySelector(".terminal") ?? document, { resultTypes: ["violations"] });
        const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
        return serious.flatMap(({ id, nodes }) =>
          nodes.map((node) => `${id}: ${node.html.slice(0, 120)} ${node.failureSummary?.slice(0, 200)}`),
        );
      });
      expect(found).toEqual([]);
    },
  );

  it("is a chunk of its own", () => {
    const files = readdirSync(join(dir, "built", "assets")).filter((name) => name.endsWith(".js"));
    const chunk = files.find((name) => name.startsWith("terminal-view")) ?? "";
    const entry = files.find((name) => name.startsWith("index")) ?? "";
    expect(readFileSync(join(dir, "built", "assets", entry), "utf8")).not.toContain("xterm-helper-textarea");
    expect(statSync(join(dir, "built", "assets", chunk)).size).toBeLessThan(600_000);
  });
});
