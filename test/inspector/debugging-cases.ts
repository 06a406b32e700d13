// Looking behind the transcript.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { verifyCommand } from "../../src/verify/verify-command.ts";
import { at, choose, openDrawer, type World } from "./world.ts";

const built = fileURLToPath(new URL("../../dist/inspector/", import.meta.url));
const LARGEST_FIRST_LOAD = 250_000;

export function debuggingCases(world: World): void {
  it("shows the timeline with filters and the native message beside each event", async () => {
    const session = await world.session("Timeline");
    await session.prompt("shell ls");
    const { last_sequence } = await session.get();
    const page = await world.window(at(session));
    await openDrawer(page);
    const type = (value: string) => choose(page, page.getByRole("button", { name: /^Event type:/ }), value);
    const source = (value: string) => choose(page, page.getByRole("button", { name: /^Event source:/ }), value);
    const lines = page.locator("[data-sequence]");
    await page.locator(`[data-sequence="${last_sequence}"]`).waitFor();
    expect(await lines.locator(".event-type", { hasText: "item.delta" }).count()).toBe(0);
    await lines.locator(".event-left").first().waitFor();
    await page.getByLabel("Search events").fill("second line");
    await page.getByRole("region", { name: "Found in this session" }).getByRole("button").first().click();
    await page.getByRole("region", { name: /^Event/ }).waitFor();
    await page.getByLabel("Search events").fill("");
    await page.getByRole("button", { name: "Deltas" }).click();
    await lines.locator(".event-type", { hasText: "item.delta" }).first().waitFor();
    await type("item.delta");
    await expect.poll(async () => new Set(await lines.locator(".event-type").allTextContents())).toEqual(new Set(["item.delta"]));
    await type("turn");
    await source("daemon");
    await expect.poll(() => lines.locator(".event-type").allTextContents()).toEqual(["turn.started"]);
    await source("agent");
    await type("item.delta");
    await lines.last().click();
    const detail = page.getByRole("region", { name: /^Event/ });
    await detail.getByText('"item.delta"').waitFor();
    await detail.locator("h3", { hasText: "Native message" }).waitFor();
    await detail.locator(".code-block").nth(1).getByText('"text"').first().waitFor();
  });

  it("shows every native message as it came, in both directions", async () => {
    const session = await world.session("Native");
    await session.prompt("say the very words");
    const page = await world.window(at(session));
    await openDrawer(page);
    await page.getByRole("tab", { name: "Native" }).click();
    const rows = page.getByRole("list", { name: "Native messages" }).getByRole("button");
    const known = (await session.native()).trim().split("\n").length;
    await expect.poll(() => rows.count()).toBe(known);
    await page.getByLabel("Search native messages").fill("prompt the very words");
    await expect.poll(() => rows.locator("code").allTextContents()).toEqual(["in:prompt"]);
    await rows.first().click();
    await page.locator(".native .code-block").getByText('"say the very words"').waitFor();
  });

  it("shows an event that came while its page of the timeline was on its way", async () => {
    const session = await world.session("Late event");
    await session.prompt("say one");
    const page = await world.window(at(session));
    await page.route(
      (url) =>
        url.pathname.endsWith("/events") && url.searchParams.get("after") === "0" && url.searchParams.get("limit") === "200",
      async (route) => {
        const response = await route.fetch();
        await session.update({ title: "Late title" });
        await page.getByRole("heading", { name: "Late title" }).waitFor();
        await route.fulfill({ response });
      },
      { times: 1 },
    );
    await page.reload();
    await openDrawer(page);
    await page.getByRole("button", { name: "Deltas" }).click();
    await page.locator(".event-summary", { hasText: "Late title" }).waitFor();
  });

  it("replays the session to any sequence", async () => {
    const session = await world.session("Replay");
    await session.prompt("say first");
    const { last_sequence } = await session.get();
    await session.prompt("say second");
    const page = await world.window(at(session));
    await page.getByRole("article", { name: "Agent" }).getByText("second").waitFor();
    await openDrawer(page);
    await page.getByLabel("Replay to sequence").fill(String(last_sequence));
    await page.getByText(`As it stood at event ${last_sequence}`).waitFor();
    await page.getByRole("article", { name: "Agent" }).getByText("second").waitFor({ state: "detached" });
    await page.getByRole("article", { name: "Agent" }).getByText("first").waitFor();
    await page.getByRole("button", { name: "Back to now" }).click();
    await page.getByRole("article", { name: "Agent" }).getByText("second").waitFor();
    await page.getByRole("button", { name: "Play the session" }).click();
    await page.getByText("As it stood at event").waitFor();
    await page.getByRole("article", { name: "Agent" }).getByText("second").waitFor();
    await page.getByText("As it stood at event").waitFor({ state: "detached" });
  });

  it("shows coverage, charts and requests", async () => {
    const session = await world.session("Numbers");
    await session.prompt("garbage");
    const page = await world.window(at(session));
    await openDrawer(page);
    await page.getByRole("tab", { name: "Coverage" }).click();
    const { totals } = await session.coverage();
    expect(totals.unparsed).toBeGreaterThan(0);
    await expect.poll(() => page.locator(".totals .unparsed dd").textContent()).toBe(String(totals.unparsed));
    const file = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download the flight recorder" }).click();
    expect((await file).suggestedFilename()).toBe(`${session.id}.native.ndjson`);
    await page.getByRole("tab", { name: "Charts" }).click();
    await page.getByRole("img", { name: /^Turn duration: / }).waitFor();
    await page.getByRole("tab", { name: "Requests" }).click();
    await page.locator(".requests li", { hasText: "/coverage" }).getByRole("button", { name: "Copy as curl" }).first().click();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toContain(`${world.daemon.url}/v1/sessions/${session.id}/coverage`);
    expect(copied).not.toContain(world.daemon.token);
  });

  it("shows usage limits, MCP servers and settings as the agent last told them", async () => {
    const session = await world.session("Told");
    await session.prompt("facts");
    const page = await world.window(at(session));
    await openDrawer(page);
    await page.getByRole("tab", { name: "State" }).click();
    const limits = page.getByRole("region", { name: "Usage limits" });
    await limits.getByText("42 % used").waitFor();
    expect(await limits.getByRole("meter", { name: "five hour used" }).getAttribute("value")).toBe("42");
    expect(await page.getByRole("region", { name: "MCP servers" }).textContent()).toContain("filesconnected");
    expect(await page.getByRole("region", { name: "Settings" }).textContent()).toContain("mock-2");
    await page.getByRole("tab", { name: "Timeline" }).click();
  });

  it("lists the agents with versions, capabilities and how to verify them", async () => {
    const page = await world.window("/agents");
    const card = page.getByRole("article", { name: "Mock agent" });
    await card.waitFor();
    await page
      .getByRole("table", { name: "Capabilities" })
      .getByRole("rowheader", { name: "Permissions", exact: true })
      .waitFor();
    await card.getByText("Never verified").waitFor();
    await card.getByRole("button", { name: "Copy dragoman verify mock" }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("dragoman verify mock");
  });

  it("shows what verify last found out, scenario by scenario", async () => {
    const dataDir = world.daemon.dataDir;
    const quiet = { write: () => {} };
    const verify = (scenario: string, more: { timeLimitMs?: number }) =>
      verifyCommand(
        { agents: ["mock"], scenario: [scenario], dataDir, ...more },
        { stdout: quiet, stderr: quiet, env: process.env },
      );
    expect(await verify("mock-text", {})).toBe(0);
    expect(await verify("mock-steer", { timeLimitMs: 1 })).toBe(1);
    const page = await world.window("/agents");
    const card = page.getByRole("article", { name: "Mock agent" });
    await page.getByRole("button", { name: "Refresh" }).click();
    const report = card.getByRole("region", { name: "Verify report" });
    await report.getByText(/^Verified \S+/).waitFor();
    const verdicts = await report.getByRole("list", { name: "Verdicts" }).getByRole("listitem").allTextContents();
    expect(verdicts).toEqual(["1 passed", "1 hung"]);
    await report.getByText("2 scenarios").click();
    await report.getByText("no end after 0.001 s").waitFor();
    expect(await report.locator(".scenario-line code").allTextContents()).toEqual(["mock-steer", "mock-text"]);
    await report.getByRole("button", { name: "Copy dragoman verify mock" }).waitFor();
  });

  it("keeps the first load small", () => {
    type Chunk = { file: string; css?: string[]; imports?: string[]; isEntry?: boolean };
    const manifest = JSON.parse(readFileSync(`${built}manifest.json`, "utf8")) as Record<string, Chunk>;
    const files = new Set<string>(["index.html"]);
    const walk = (name: string): void => {
      const chunk = manifest[name];
      if (!chunk || files.has(chunk.file)) return;
      for (const file of [chunk.file, ...(chunk.css ?? [])]) files.add(file);
      for (const next of chunk.imports ?? []) walk(next);
    };
    for (const [name, chunk] of Object.entries(manifest)) if (chunk.isEntry) walk(name);
    const sizes = [...files].map((file) => gzipSync(readFileSync(built + file)).length);
    expect(files.size).toBeGreaterThan(2);
    expect(sizes.reduce((a, b) => a + b, 0)).toBeLessThan(LARGEST_FIRST_LOAD);
    expect(readdirSync(`${built}assets`).length).toBeGreaterThan(files.size);
  });
}
