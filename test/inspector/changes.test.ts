// The changes of a session in the browser: what a turn did, a rewind that is shown before it is done, and its undo.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { at, choose, hasBrowser, openDrawer, World } from "./world.ts";

/** Where pictures of the pages are put, for a person to look at; nowhere unless asked for. */
const PICTURES = process.env.DRAGOMAN_PICTURES;
const AGENT = fileURLToPath(new URL("../shell-agent.mjs", import.meta.url));
const agents = { acp: { shell: { command: process.execPath, args: [AGENT], restricted: {} } } };

describe.skipIf(!hasBrowser)("the changes of a session", () => {
  const world = new World({ agents });
  beforeAll(() => world.start());
  afterAll(() => world.stop());

  it("shows the diff of a turn and of the session, rewinds after a preview, and undoes it", async () => {
    const directory = join(world.directory, "project");
    mkdirSync(directory);
    const file = join(directory, "a.txt");
    writeFileSync(file, "one\n");
    const session = await world.api.createSession({ agent: "shell", directory, title: "Changes" });
    await session.prompt("echo two > a.txt");
    await session.prompt("echo three > b.txt");
    const page = await world.window(at(session));
    await openDrawer(page);
    await page.getByRole("tab", { name: "Changes" }).click();
    const panel = page.getByRole("tabpanel", { name: "Changes" });
    await panel.getByText("2 files").waitFor();
    await panel.locator("summary", { hasText: "b.txt" }).waitFor();
    await panel.getByRole("button", { name: /^Changes of:/ }).click();
    await page.getByRole("option", { name: "Turn 1" }).click();
    await panel.locator("summary", { hasText: "b.txt" }).waitFor({ state: "detached" });
    await panel.locator(".changed-file", { hasText: "a.txt" }).getByText("two").waitFor();

    await panel.getByRole("list", { name: "Checkpoints" }).getByRole("button", { name: "Rewind…" }).last().click();
    const preview = panel.getByRole("region", { name: "What the rewind would do" });
    await preview.getByText("b.txt").waitFor();
    expect(readFileSync(file, "utf8")).toBe("two\n");
    await preview.getByRole("button", { name: "Rewind 2 files" }).click();
    await panel.getByText("2 files were changed.").waitFor();
    expect(readFileSync(file, "utf8")).toBe("one\n");
    await page.getByText("Rewound to checkpoint: turn start").waitFor();

    await panel.getByRole("button", { name: "Undo the last rewind" }).click();
    await expect.poll(() => readFileSync(file, "utf8")).toBe("two\n");
    if (PICTURES) await page.screenshot({ path: join(PICTURES, "changes.png") });

    await panel.getByRole("list", { name: "Checkpoints" }).getByRole("button", { name: "Rewind…" }).last().click();
    await preview.getByRole("button", { name: "Rewind, and go on in a new session" }).click();
    await page.waitForURL((url) => url.href.includes("sessions/") && !url.href.includes(session.id));
    expect(readFileSync(file, "utf8")).toBe("one\n");
    expect(world.faults).toEqual([]);
  });

  it("reviews a turn: comments on lines go to the agent as one message", async () => {
    const directory = join(world.directory, "reviewed");
    mkdirSync(directory);
    writeFileSync(join(directory, "a.ts"), "const a = 1;\n");
    const session = await world.api.createSession({ agent: "shell", directory, title: "Reviewed" });
    await session.prompt("echo 'const a = 2;' > a.ts");
    await session.prompt("echo hello > b.txt");
    const page = await world.window(at(session));
    const panel = page.getByRole("tabpanel", { name: "Changes" });
    const review = page.getByRole("button", { name: "Review changes" });
    // What the panel shows of the session is no change of the turn, however late that comes.
    await review.last().click();
    await panel.locator(".changed-file", { hasText: "b.txt" }).waitFor();
    let answer = (): void => {};
    const late = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route(
      (url) => url.pathname.endsWith("/changes"),
      async (route) => {
        await late;
        await route.continue();
      },
    );
    await review.first().click();
    await panel.locator(".changed-file").waitFor({ state: "detached" });
    answer();
    const file = panel.locator(".changed-file", { hasText: "a.ts" });
    await file.locator(".diff-code-insert", { hasText: "const a = 2;" }).waitFor();
    expect(await panel.locator(".changed-file", { hasText: "b.txt" }).count()).toBe(0);
    await file.getByRole("button", { name: "Comment on line 1" }).last().click();
    await file.getByLabel("Comment", { exact: true }).fill("echo keep it one");
    await file.getByRole("button", { name: "Comment", exact: true }).click();
    await panel.getByText("1 comment", { exact: true }).waitFor();
    await panel.getByRole("button", { name: "Send to the agent" }).click();
    const message = page.getByRole("article", { name: "You" }).filter({ hasText: "a.ts:1" });
    await message.getByText("echo keep it one").waitFor();
    await message.getByText("+const a = 2;").waitFor();
    await panel.getByText("1 comment", { exact: true }).waitFor({ state: "detached" });
    await page.unrouteAll({ behavior: "wait" });
    expect(world.faults).toEqual([]);
  });

  it("lists the skills of a directory, and who sees them", async () => {
    const directory = join(world.directory, "with-skills");
    const folder = join(directory, ".agents/skills/greet");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "SKILL.md"), "---\nname: greet\ndescription: Greets somebody.\n---\nGreet.\n");
    await world.api.trustDirectory(directory);
    await world.api.createSession({ agent: "shell", directory, title: "With some" });
    const page = await world.window("/");
    await page.getByRole("link", { name: "Skills", exact: true }).click();
    await page.getByRole("heading", { name: "Skills" }).waitFor();
    await choose(page, page.getByRole("button", { name: /^Directory:/ }), directory);
    const card = page.getByRole("article", { name: "greet" });
    await card.getByText("Greets somebody.").waitFor();
    await card.getByText("claude: injected").waitFor();
    await card.getByText("codex: native").waitFor();
    if (PICTURES) await page.screenshot({ path: join(PICTURES, "skills.png") });
    expect(world.faults).toEqual([]);
  });
});
