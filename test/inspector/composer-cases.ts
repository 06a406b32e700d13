// Writing: queue, steer, commands, attachments, settings, and what can be done with a session.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { at, choose, openDrawer, say, showOnly, type World } from "./world.ts";

export function composerCases(world: World): void {
  it("completes the directory of a new session from what is typed", async () => {
    mkdirSync(join(world.directory, "grove/apple-tree"), { recursive: true });
    mkdirSync(join(world.directory, "grove/apricot"), { recursive: true });
    const page = await world.window("/");
    await page.getByRole("button", { name: /^Directory:/ }).click();
    const field = page.getByLabel("Path on the daemon's machine");
    await field.fill(join(world.directory, "grove/ap"));
    const option = (name: string) => page.locator(`[role=option][data-value="${join(world.directory, "grove", name)}"]`);
    await option("apricot").waitFor();
    await option("apple-tree").click();
    await page.getByRole("button", { name: "Directory: apple-tree" }).waitFor();
  });

  it("queues while a turn runs, steers into it, interrupts it", async () => {
    const session = await world.session("Busy");
    const page = await world.window(at(session));
    await say(page, "hang");
    await page.locator('[data-status="running"]').waitFor();
    await say(page, "say from the queue");
    await page.locator(".composer").getByText("1 queued").waitFor();
    await page.getByRole("list", { name: "Queued messages" }).getByText("say from the queue").waitFor();
    await page.getByLabel("Message", { exact: true }).fill("a word in between");
    await page.getByRole("button", { name: "Steer" }).click();
    await page.getByRole("article", { name: "You" }).getByText("a word in between").waitFor();
    await page.keyboard.press("Control+.");
    await page.locator(".turn-end", { hasText: "Interrupted" }).waitFor();
    await page.getByRole("article", { name: "Agent" }).getByText("from the queue").waitFor();
    await page.getByRole("list", { name: "Queued messages" }).waitFor({ state: "detached" });
  });

  it("shows one queue in every window: edited, moved, removed and sent now in one, seen in the other", async () => {
    const session = await world.session("Queued elsewhere");
    await session.send("hang");
    for (const text of ["say later", "say never", "left"]) await session.send(text);
    const page = await world.window(at(session));
    const other = await world.otherWindow(at(session));
    const shown = (window: typeof page) => window.getByRole("list", { name: "Queued messages" }).getByRole("listitem");
    const texts = async (window: typeof page) => (await shown(window).locator("span.grow").allTextContents()).join(", ");
    const both = (text: string) => expect.poll(() => Promise.all([texts(page), texts(other)])).toEqual([text, text]);
    await both("say later, say never, left");
    await page.getByRole("button", { name: "Move up: left" }).click();
    await both("say later, left, say never");
    await other.getByRole("button", { name: "Edit: say later" }).click();
    await other.getByLabel("Queued message", { exact: true }).fill("say sooner");
    await other.keyboard.press("Enter");
    await both("say sooner, left, say never");
    await page.getByRole("button", { name: "Remove: say never" }).click();
    await both("say sooner, left");
    await other.getByRole("button", { name: "Send now: left" }).click();
    await both("say sooner");
    await page.getByRole("article", { name: "You" }).getByText("left").waitFor();
    await session.interrupt();
    await page.getByRole("article", { name: "Agent" }).getByText("sooner").waitFor();
    await both("");
  });

  it("keeps the lines of a queued message that is edited, and the keyboard at it", async () => {
    const session = await world.session("Queued lines");
    await session.send("hang");
    for (const text of ["say first", "say second\nin two lines"]) await session.send(text);
    const page = await world.window(at(session));
    const queued = page.getByRole("list", { name: "Queued messages" }).locator("span.grow");
    await queued.nth(1).waitFor();
    const focused = (name: string) => page.locator(`:focus[aria-label^="${name}"]`).waitFor();
    await page.getByRole("button", { name: /^Edit: say second/ }).click();
    await page.keyboard.press("Control+End");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("or three");
    await page.keyboard.press("Enter");
    await expect.poll(async () => (await queued.allTextContents())[1]).toBe("say second\nin two lines\nor three");
    await focused("Edit: say second");
    await page.getByRole("button", { name: /^Move up: say second/ }).click();
    await expect.poll(async () => (await queued.allTextContents())[1]).toBe("say first");
    await focused("Edit: say second");
    await page.getByRole("button", { name: "Remove: say first" }).click();
    await focused("Message");
    await page.getByRole("button", { name: /^Remove: say second/ }).click();
    await page.getByRole("list", { name: "Queued messages" }).waitFor({ state: "detached" });
    await focused("Message");
    await session.interrupt();
  });

  it("takes files that are dropped or pasted", async () => {
    const session = await world.session("Dropped");
    const page = await world.window(at(session));
    const drop = async (type: "drop" | "paste", name: string): Promise<void> => {
      const field = page.getByLabel("Message", { exact: true });
      await field.evaluate(
        (element, { kind, file }) => {
          const data = new DataTransfer();
          data.items.add(new File(["hello"], file, { type: "text/plain" }));
          const bubbles = { bubbles: true, cancelable: true };
          if (kind === "drop") element.dispatchEvent(new DragEvent("dragover", { ...bubbles, dataTransfer: data }));
          element.dispatchEvent(
            kind === "drop"
              ? new DragEvent("drop", { ...bubbles, dataTransfer: data })
              : new ClipboardEvent("paste", { ...bubbles, clipboardData: data }),
          );
        },
        { kind: type, file: name },
      );
      await page.locator(".attachments").getByText(name).waitFor();
    };
    await drop("drop", "dropped.txt");
    expect(await page.locator(".composer.over").count()).toBe(0);
    await drop("paste", "pasted.txt");
    await page.getByRole("button", { name: "Remove dropped.txt" }).click();
    expect(await page.locator(".attachments li").count()).toBe(1);
    await say(page, "say with a file");
    await page.getByRole("article", { name: "You" }).getByText("pasted.txt").waitFor();
    expect(await page.locator(".attachments").count()).toBe(0);
  });

  it("takes every key of somebody who types faster than the page is drawn", async () => {
    const page = await world.window(at(await world.session("A fast typist")));
    await page.locator("#composer:focus").waitFor();
    for (const label of ["Message", "Search sessions"]) {
      const field = page.getByLabel(label, { exact: true });
      // All in one task: nothing is drawn and no effect comes to its turn in between, as on a machine with other things to do.
      await field.evaluate((element) => {
        const { prototype } = element instanceof HTMLInputElement ? HTMLInputElement : HTMLTextAreaElement;
        const type = Object.getOwnPropertyDescriptor(prototype, "value")?.set;
        for (let length = 1; length <= 200; length++) {
          type?.call(element, "x".repeat(length));
          element.dispatchEvent(new Event("input", { bubbles: true }));
        }
      });
      await expect.poll(() => field.inputValue()).toBe("x".repeat(200));
      await field.fill("");
    }
  });

  it("offers the agent's commands after a slash", async () => {
    const session = await world.session("Commands");
    await session.prompt("facts");
    const page = await world.window(at(session));
    const field = page.getByLabel("Message", { exact: true });
    await field.waitFor();
    await expect
      .poll(async () => {
        await field.fill("/he");
        return page.getByRole("option", { name: /help/ }).count();
      })
      .toBe(1);
    await page.keyboard.press("Tab");
    expect(await field.inputValue()).toBe("/help ");
    const sent = page.waitForRequest((request) => request.method() === "POST" && request.url().endsWith("/messages"));
    await page.keyboard.press("Enter");
    expect((await sent).postDataJSON()).toMatchObject({ message: "/help ", command: true });
  });

  it("a message that only looks like a command is text", async () => {
    const session = await world.session("Text");
    const page = await world.window(at(session));
    const field = page.getByLabel("Message", { exact: true });
    await field.fill("/etc/hosts is what?");
    const sent = page.waitForRequest((request) => request.method() === "POST" && request.url().endsWith("/messages"));
    await page.keyboard.press("Enter");
    expect((await sent).postDataJSON()).not.toMatchObject({ command: true });
  });

  it("sends attachments and shows them", async () => {
    const session = await world.session("Attached");
    const page = await world.window(at(session));
    const png = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==";
    await page
      .locator("input[type=file]")
      .setInputFiles({ name: "dot.png", mimeType: "image/png", buffer: Buffer.from(png, "base64") });
    await page.getByRole("button", { name: "Remove dot.png" }).waitFor();
    await say(page, "say I see it");
    await page.getByRole("article", { name: "You" }).getByAltText("From the session").waitFor();
    await page.getByRole("article", { name: "Agent" }).getByText("I see it").waitFor();
  });

  it("changes model, mode and permission mode of a living session", async () => {
    const session = await world.session("Settings");
    await session.prompt("say ready");
    const page = await world.window(at(session));
    await choose(page, page.getByRole("button", { name: /^Model:/ }), "mock-2");
    await expect.poll(async () => (await session.get()).model).toBe("mock-2");
    await choose(page, page.getByRole("button", { name: /^Mode:/ }), "ask");
    await expect.poll(async () => (await session.get()).agent_mode).toBe("ask");
    await choose(page, page.getByRole("button", { name: /^Permissions:/ }), "accept_edits");
    await expect.poll(async () => (await session.get()).permission_mode).toBe("accept_edits");
  });

  it("renames, forks, exports, ends and deletes", async () => {
    const session = await world.session("Plain name");
    await session.prompt("say something to keep");
    const page = await world.window(at(session));
    const choose = async (name: string): Promise<void> => {
      await page.getByRole("button", { name: "Session actions" }).click();
      await page.getByRole("menuitem", { name }).click();
    };
    await choose("Rename");
    await page.getByLabel("Title").fill("A better name");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "A better name" }).waitFor();
    const file = page.waitForEvent("download");
    await choose("Export all events");
    expect((await file).suggestedFilename()).toBe(`${session.id}.ndjson`);
    await choose("Fork");
    await page.getByRole("link", { name: "forked from A better name" }).waitFor();
    await choose("End session");
    await page.locator('[data-status="ended"]').waitFor();
    await choose("Delete");
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { name: "Every agent, one place" }).waitFor();
    expect((await world.api.sessions({ search: "A better name" })).sessions.map((row) => row.session_id)).toContain(session.id);
  });

  it("says that a link was copied, and keeps the drawer's view from session to session", async () => {
    const [one, two] = [await world.session("Drawer one"), await world.session("Drawer two")];
    const page = await world.window(at(one));
    await page.getByRole("button", { name: "Session actions" }).click();
    await page.getByRole("menuitem", { name: "Copy link" }).click();
    await page.getByRole("status").getByText("Link copied").waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(new RegExp(`#/sessions/${one.id}$`));
    await openDrawer(page);
    await page.getByRole("tab", { name: "State" }).click();
    await world.window(at(two));
    await page.getByRole("heading", { name: "Drawer two" }).waitFor();
    await page.locator('[role=tab][aria-selected="true"]', { hasText: "State" }).waitFor();
    await page.getByRole("button", { name: "Close the drawer" }).click();
  });

  it("searches and filters the list, and marks unread sessions", async () => {
    const [one, two] = [await world.session("Needle in hay"), await world.session("Other straw")];
    const page = await world.window(at(one));
    const list = page.locator("#session-list");
    await page.getByRole("heading", { name: "Needle in hay" }).waitFor();
    await two.prompt("say news");
    await list.locator("a.unread", { hasText: "Other straw" }).waitFor();
    await page.getByLabel("Search sessions").fill("needle");
    await list.getByText("Other straw").waitFor({ state: "detached" });
    await page.getByLabel("Search sessions").fill("");
    await showOnly(page, "Unread");
    await list.getByText("Needle in hay").waitFor({ state: "detached" });
    await list.getByText("Other straw").click();
    await page.getByRole("article", { name: "Agent" }).getByText("news").waitFor();
  });
}
