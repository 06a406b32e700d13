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
}, 120_000);
afterAll(async () => {
  await daemon.kill("SIGTERM");
  removeDir(dataDir);
});

const linksOf = (html: string): string[] => [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map((match) => match[1] ?? "");

describe("the documentation", { timeout: 120_000 }, () => {
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

  it("runs no script, asks nothing of other machines, and says so in its policy", async () => {
    for (const path of ["/docs", "/docs/events.html", "/docs/agents/claude.html"]) {
      const answer = await fetch(`${daemon.url}${path}`);
      const html = await answer.text();
      expect(html).not.toMatch(/<script|style=|onclick|<style/i);
      expect(html).not.toMatch(/(?:src|<link[^>]*href)="https?:/i);
      expect(answer.headers.get("content-security-policy")).toContain("default-src 'self'");
    }
  });
});
