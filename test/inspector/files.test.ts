// Files and artifacts of a session in the browser: a tree that follows the disk, a look at a file, `@path` in the composer, and what was stored beside the events.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { at, hasBrowser, openDrawer, World } from "./world.ts";

/** Where pictures of the pages are put, for a person to look at; nowhere unless asked for. */
const PICTURES = process.env.DRAGOMAN_PICTURES;

describe.skipIf(!hasBrowser)("files and artifacts of a session", () => {
  const world = new World();
  let directory: string;
  beforeAll(async () => {
    await world.start();
    directory = join(world.directory, "tree");
    mkdirSync(join(directory, "src/deep"), { recursive: true });
    writeFileSync(join(directory, "README.md"), "# A tree\n");
    writeFileSync(join(directory, "src/main.ts"), "export const answer: number = 42;\n");
    writeFileSync(join(directory, "picture.bin"), Buffer.from([0, 1, 2, 3]));
  });
  afterAll(() => world.stop());

  it("shows the tree, follows the disk, and shows a file in colour", async () => {
    const session = await world.api.createSession({ agent: "mock", directory, title: "Files" });
    const page = await world.window(at(session));
    await openDrawer(page);
    await page.getByRole("tab", { name: "Files" }).click();
    const panel = page.getByRole("tabpanel", { name: "Files" });
    const tree = panel.getByRole("tree", { name: "Files" });
    await tree.getByRole("treeitem", { name: "src" }).click();
    await tree.getByRole("treeitem", { name: "main.ts" }).click();
    const file = panel.getByRole("region", { name: "File src/main.ts" });
    await file.getByText("answer").first().waitFor();
    await file.locator("code span[style]").first().waitFor();
    writeFileSync(join(directory, "src/main.ts"), "export const answer: number = 43;\n");
    await file.getByText("43").waitFor();
    writeFileSync(join(directory, "src/new.ts"), "");
    await tree.getByRole("treeitem", { name: "new.ts" }).waitFor();
    await tree.getByRole("treeitem", { name: "picture.bin" }).click();
    await panel.getByText("This is not text.").waitFor();
    await tree.getByRole("treeitem", { name: "main.ts" }).click();
    if (PICTURES) await page.screenshot({ path: join(PICTURES, "files.png") });
    expect(world.faults).toEqual([]);
  });

  it("walks through the tree by keyboard: one stop for Tab, arrows for the rest", async () => {
    const session = await world.api.createSession({ agent: "mock", directory, title: "Keys" });
    const page = await world.window(at(session));
    await openDrawer(page);
    await page.getByRole("tab", { name: "Files" }).click();
    const tree = page.getByRole("tree", { name: "Files" });
    const focused = (name: string): Promise<void> => tree.locator(`[role="treeitem"]:focus`, { hasText: name }).waitFor();
    await tree.getByRole("treeitem", { name: "src" }).waitFor();
    expect(await tree.locator('[role="treeitem"][tabindex="0"]').count()).toBe(1);
    await tree.getByRole("treeitem", { name: "src" }).focus();
    await page.keyboard.press("ArrowRight");
    await tree.getByRole("treeitem", { name: "main.ts" }).waitFor();
    await page.keyboard.press("ArrowRight");
    await focused("deep");
    await page.keyboard.press("ArrowDown");
    await focused("main.ts");
    await page.keyboard.press("Enter");
    await page.getByRole("region", { name: "File src/main.ts" }).waitFor();
    await page.keyboard.press("ArrowLeft");
    await focused("src");
    await page.keyboard.press("ArrowLeft");
    await tree.getByRole("treeitem", { name: "main.ts" }).waitFor({ state: "detached" });
    await page.keyboard.press("End");
    await focused("README.md");
    await page.keyboard.press("Home");
    await focused("src");
    expect(world.faults).toEqual([]);
  });

  it("completes @path in the composer", async () => {
    const session = await world.api.createSession({ agent: "mock", directory, title: "Paths" });
    const page = await world.window(at(session));
    const area = page.getByLabel("Message", { exact: true });
    await area.fill("say look at @mai");
    const list = page.getByRole("listbox", { name: "Files" });
    await list.getByRole("option", { name: "src/main.ts" }).waitFor();
    if (PICTURES) await page.screenshot({ path: join(PICTURES, "paths.png") });
    await area.press("Enter");
    expect(await area.inputValue()).toBe("say look at @src/main.ts ");
    await list.waitFor({ state: "detached" });
    await area.press("Enter");
    await page.getByText("look at @src/main.ts").first().waitFor();
    await area.fill("me@example.org @");
    await list.waitFor();
    await area.press("Escape");
    await list.waitFor({ state: "detached" });
    expect(world.faults).toEqual([]);
  });

  it("lists artifacts as they come, with a look at each kind", async () => {
    const session = await world.api.createSession({ agent: "mock", directory, title: "Artifacts" });
    const page = await world.window(at(session));
    await openDrawer(page);
    await page.getByRole("tab", { name: "Artifacts" }).click();
    const panel = page.getByRole("tabpanel", { name: "Artifacts" });
    await panel.getByText("Images, long outputs and attachments appear here.").waitFor();
    await session.prompt("parts");
    await panel.getByRole("option", { name: /image/ }).click();
    await panel.locator("img").waitFor();
    await session.prompt("big 400000");
    await panel.getByRole("option", { name: /tool output/ }).click();
    await panel.getByText("left out").waitFor();
    if (PICTURES) await page.screenshot({ path: join(PICTURES, "artifacts.png") });
    expect(world.faults).toEqual([]);
  });
});
