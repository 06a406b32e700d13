// The documentation as the daemon serves it: generated pages are up to date, every link leads somewhere, nothing is loaded from elsewhere.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "../daemon-process.ts";
import { root } from "./code-blocks.ts";

let dataDir: string;
let daemon: DaemonProcess;
beforeAll(async () => {
  dataDir = temporaryDir("docs-site");
  daemon = await startDaemonProcess(dataDir);
});
afterAll(async () => {
  await daemon.kill("SIGTERM");
  removeDir(dataDir);
});

const linksOf = (html: string): string[] => [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map((match) => match[1] ?? "");

describe("the documentation", () => {
  it("is what the code says", () => {
    const { status, stderr } = spawnSync(process.execPath, [join(root, "scripts/docs.mjs"), "--check"], { encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
  });

  it("is served at /docs without a token, and every link within leads somewhere", async () => {
    const waiting = ["/docs"];
    const seen = new Set(waiting);
    const broken: string[] = [];
    for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
      const answer = await fetch(`${daemon.url}${path}`);
      if (answer.status !== 200) broken.push(`${path}: ${answer.status}`);
      if (!answer.headers.get("content-type")?.includes("text/html")) continue;
      const html = await answer.text();
      for (const link of linksOf(html)) {
        if (link.startsWith("#") && path !== "/docs/api" && !html.includes(`id="${link.slice(1)}"`))
          broken.push(`${path}: ${link}`);
        const target = link.split("#")[0] ?? "";
        if (!target.startsWith("/docs") || seen.has(target)) continue;
        seen.add(target);
        waiting.push(target);
      }
    }
    expect(broken).toEqual([]);
    expect(seen.size).toBeGreaterThan(15);
    expect(seen).toContain("/docs/api");
  });

  it("runs its own script alone, asks nothing of other machines, and says so in its policy", async () => {
    for (const path of ["/docs", "/docs/events.html", "/docs/agents/claude.html"]) {
      const answer = await fetch(`${daemon.url}${path}`);
      const html = await answer.text();
      expect(html.match(/<script[^>]*>/g)).toEqual(['<script type="module" src="/docs/site.js">']);
      expect(html).not.toMatch(/style=|onclick|<style/i);
      expect(html).not.toMatch(/(?:src|<link[^>]*href)="https?:/i);
      expect(answer.headers.get("content-security-policy")).toContain("default-src 'self'");
    }
  });

  it("colours its code, and has what a search looks for", async () => {
    const page = await (await fetch(`${daemon.url}/docs/quickstart.html`)).text();
    expect(page).toMatch(/<span class="tk-[a-z-]+">/);
    const entries = (await (await fetch(`${daemon.url}/docs/search.json`)).json()) as [string, string, string, string][];
    const found = entries.filter(([, , , text]) => text.includes("Trusting a directory") || text.includes("is trusted"));
    expect(found.map(([, , href]) => href)).toContain("/docs/quickstart.html#trusting-a-directory");
    for (const [, , href] of entries) {
      const [path = "", anchor] = href.split("#");
      const html = await pageOf(path);
      if (anchor) expect([href, html.includes(`id="${anchor}"`)]).toEqual([href, true]);
    }
  });

  it("says that a page is not there", async () => {
    expect((await fetch(`${daemon.url}/docs/nothing.html`)).status).toBe(404);
    expect((await fetch(`${daemon.url}/docs/nothing`)).status).toBe(404);
  });
});

const read = new Map<string, Promise<string>>();
const pageOf = (path: string): Promise<string> => {
  const known = read.get(path) ?? fetch(`${daemon.url}${path}`).then((answer) => answer.text());
  read.set(path, known);
  return known;
};
