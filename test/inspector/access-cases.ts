// Who may do what, and how: the observe role, no token, and a keyboard alone.
import { expect, it } from "vitest";
import { answerByChord, at, type World } from "./world.ts";

export function accessCases(world: World): void {
  it("lets the observe role see everything and do nothing", async () => {
    const session = await world.session("Watched");
    await session.send("ask touch watched");
    const page = await world.otherWindow(at(session), { role: "observe" });
    await page.getByText("read-only", { exact: true }).waitFor();
    await page.locator(".request .command", { hasText: "touch watched" }).waitFor();
    expect(await page.locator(".request").getByRole("button").count()).toBe(0);
    expect(await page.getByLabel("Message", { exact: true }).count()).toBe(0);
    expect(await page.getByRole("button", { name: "New session" }).count()).toBe(0);
    await page.keyboard.press("Alt+1");
    await page.keyboard.press("Alt+n");
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.getByRole("button", { name: "Session actions" }).click();
    for (const name of ["Rename", "Fork", "End session", "Delete"])
      expect(await page.getByRole("menuitem", { name }).getAttribute("aria-disabled")).toBe("true");
    expect((await session.pending()).permissions).toHaveLength(1);
    await session.terminate();
  });

  it("says what to do without a token", async () => {
    const page = await world.otherWindow("/");
    await page.evaluate(() => localStorage.clear());
    await page.reload();
    await page.getByRole("heading", { name: "Not signed in" }).waitFor();
    await page.getByText("dragoman open").waitFor();
    await page.getByLabel("Token").fill("not-the-right-token");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").waitFor();
    await page.getByLabel("Token").fill(world.daemon.token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Every agent, one place" }).waitFor();
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain(world.daemon.token);
  });

  it("shows what only the token opens: images and sounds by blobs, never by an address with a token", async () => {
    const session = await world.session("Media");
    await session.prompt("parts");
    const page = await world.otherWindow(at(session));
    const image = page.locator(".image-part img").first();
    await image.waitFor();
    expect(await image.getAttribute("src")).toMatch(/^blob:/);
    await expect.poll(() => image.evaluate((element: HTMLImageElement) => element.naturalWidth)).toBeGreaterThan(0);
    expect(await page.locator("audio").first().getAttribute("src")).toMatch(/^blob:/);
    const opened = page.context().waitForEvent("page");
    await page.locator(".image-part").first().click();
    expect((await opened).url()).toMatch(/^blob:/);
  });

  it("lets the approve role answer and nothing else", async () => {
    const session = await world.session("Approved");
    await session.send("ask touch approved");
    const page = await world.otherWindow(at(session), { role: "approve" });
    expect(await page.getByLabel("Message", { exact: true }).count()).toBe(0);
    await page.locator(".request").getByRole("button", { name: "Allow once" }).click();
    await page.getByRole("article", { name: "Agent" }).getByText("Thank you, I ran it (once).").waitFor();
    await session.terminate();
  });

  it("works with the keyboard alone", async () => {
    const page = await world.window("/");
    await page.getByRole("heading", { name: "Every agent, one place" }).waitFor();
    await page.keyboard.press("Alt+h");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).getByText("Interrupt the turn").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("Alt+n");
    await page.locator("#composer:focus").waitFor();
    const agent = page.getByRole("button", { name: /^Agent:/ });
    await agent.focus();
    await page.keyboard.press("Enter");
    const mock = page.getByRole("option", { name: "Mock agent" });
    await mock.waitFor();
    while ((await mock.getAttribute("data-at")) === null) await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Agent: Mock agent" }).waitFor();
    await page.getByLabel("What should be done?").focus();
    await page.keyboard.type("say By keys");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "say By keys" }).waitFor();
    await page.getByRole("article", { name: "Agent" }).getByText("By keys").waitFor();
    await page.locator("#composer:focus").waitFor();
    await page.keyboard.type("ask touch keys");
    await page.keyboard.press("Enter");
    await page.locator(".request.permission").waitFor();
    await answerByChord(page, "Alt+1");
    await page.getByRole("article", { name: "Agent" }).getByText("Thank you, I ran it (once).").waitFor();
    const drawer = page.getByRole("button", { name: /the debugging drawer/ });
    const before = await drawer.getAttribute("aria-pressed");
    await page.keyboard.press("Alt+i");
    await expect.poll(() => drawer.getAttribute("aria-pressed")).not.toBe(before);
    await page.keyboard.press("Alt+g");
    await page.getByRole("article", { name: "Mock agent" }).waitFor();
    await page.keyboard.press("Alt+ArrowDown");
    await page.locator(".session-page").waitFor();
  });
}
