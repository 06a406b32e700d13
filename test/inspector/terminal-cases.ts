// The terminals of a session in the page: started there, joined late, with programs that draw the whole screen.
import { expect, it } from "vitest";
import { at, choose, openDrawer, type World } from "./world.ts";

export function terminalCases(world: World): void {
  it("starts a terminal, runs what draws the screen, follows the size, and is joined late", async () => {
    const session = await world.session("Terminal");
    const page = await world.window(at(session));
    await openDrawer(page);
    await page.getByRole("tab", { name: "Terminal" }).click();
    await page.getByRole("button", { name: "New terminal" }).click();
    const rows = page.locator(".terminal .xterm-rows");
    await rows.waitFor();
    // Whoever asks for a terminal types into it next, not into the message to the agent.
    await page.locator(".terminal .xterm-helper-textarea:focus").waitFor({ state: "attached" });
    await page.getByRole("button", { name: "End it" }).waitFor();
    await page.keyboard.type("echo one-$((20+3))\n");
    await rows.getByText("one-23").waitFor();
    const [task] = (await session.tasks()).tasks;
    if (!task) throw new Error("the page started no task");
    const before = await world.api.task(task.task_id).get();
    // The drawer becomes narrower, and the program is informed.
    await page.setViewportSize({ width: 1000, height: 600 });
    await expect.poll(async () => (await world.api.task(task.task_id).get()).rows).not.toBe(before.rows);
    const { rows: height, cols } = await world.api.task(task.task_id).get();
    await page.keyboard.type("clear; stty size\n");
    await rows.getByText(`${height} ${cols}`).waitFor();
    await page.keyboard.type("vim -u NONE -N\n");
    await rows.getByText("VIM - Vi IMproved").waitFor();
    await page.keyboard.type("ihello from vim");
    await rows.getByText("hello from vim").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.type(":q!\n");
    await rows.getByText(`${height} ${cols}`).waitFor();
    await page.keyboard.type("top -d 1; echo top-$((4+4))\n");
    await rows
      .getByText(/Tasks:|PID/)
      .first()
      .waitFor();
    // Somebody else joins while it draws: the screen is there without a key.
    const other = await world.otherWindow(at(session));
    await openDrawer(other);
    await other.getByRole("tab", { name: "Terminal" }).click();
    await choose(other, other.getByRole("button", { name: /^Task:/ }), task.task_id);
    await other
      .locator(".terminal .xterm-rows")
      .getByText(/Tasks:|PID/)
      .first()
      .waitFor();
    await page.keyboard.type("q");
    // It throws away what was typed ahead.
    await rows.getByText("top-8").waitFor();
    await page.keyboard.type("exit 3\n");
    await page.locator(".terminal-ended").getByText("exited with 3").waitFor();
    await other.locator(".terminal-ended").getByText("exited with 3").waitFor();
    await page.setViewportSize({ width: 1280, height: 800 });
  });
}
