/** What is open in each screenshot, and what must be there before it is taken. Not here: the sessions that are shown, and the camera. */

const tab =
  (name, wait = ".tab-panel") =>
  async (page) => {
    if ((await page.locator(".drawer").count()) === 0) await page.keyboard.press("Alt+i");
    await page.getByRole("tab", { name }).click();
    await page.locator(wait).first().waitFor();
  };

async function openEvent(page) {
  await tab("Timeline")(page);
  await page.locator("[data-sequence]").first().waitFor();
  await page.getByRole("button", { name: /^Event type:/ }).click();
  await page.locator('[role=option][data-value="item.completed"]').click();
  await page.locator("[data-sequence]", { hasText: "tool_call completed" }).last().click();
  await page.locator(".sides .code-block").nth(1).waitFor();
}

const actions = async (page) => {
  await page.getByRole("button", { name: "Session actions" }).click();
  await page.getByRole("menu").waitFor();
};

async function share(page) {
  await actions(page);
  await page.getByRole("menuitem", { name: "Share read-only" }).click();
  await page.getByRole("dialog").waitFor();
}

async function list(page) {
  const show = page.getByRole("button", { name: "Sessions", exact: true });
  if (await show.isVisible()) await show.click();
}

async function filters(page) {
  await list(page);
  await page.getByRole("button", { name: "Filter and group" }).click();
  await page.getByRole("menu").waitFor();
}

async function waiting(page) {
  await list(page);
  await page
    .getByRole("button", { name: /waiting for you$/ })
    .first()
    .click();
  await page.locator(".request").first().waitFor();
}

async function subagent(page) {
  for (const button of await page.getByRole("button", { name: /^Show sub-agent/ }).all()) await button.click();
}

async function terminal(page) {
  await tab("Terminal")(page);
  await page.getByRole("button", { name: "New terminal" }).click();
  await page.locator(".terminal .xterm-helper-textarea:focus").waitFor({ state: "attached" });
  await page.keyboard.type("ls -l\n");
  await page.locator(".terminal .xterm-rows").getByText("total").first().waitFor();
}

async function files(page) {
  await tab("Files")(page);
  await page.getByRole("treeitem", { name: "src" }).click();
  await page.getByRole("treeitem", { name: "line-reader.js" }).click();
  await page.locator(".file-preview, .code-block").first().waitFor();
}

async function rewind(page) {
  await tab("Changes", ".changed-file")(page);
  await page.getByRole("button", { name: "Rewind…" }).last().click();
  await page.getByRole("region", { name: "What the rewind would do" }).waitFor();
}

/** `docs`: the picture of the docs, as [name, theme, width]. `on`: another daemon than the one with the sessions. */
export function viewsOf({ main, asking, question, running, failed, steps, ended }) {
  const session = (handle) => `/sessions/${handle.id}`;
  const turns = { hash: session(main), wait: ".turn-end" };
  return [
    { name: "first-run", on: "empty", hash: "/", wait: ".found-agent" },
    { name: "start", hash: "/", wait: ".live-card", docs: ["start", "light", 1440] },
    { name: "list", ...turns, act: list },
    { name: "filters", ...turns, act: filters },
    { name: "waiting", ...turns, act: waiting },
    { name: "session", hash: session(main), wait: ".diff-code-insert", docs: ["session", "light", 1440] },
    { name: "permission", hash: session(asking), wait: ".request", docs: ["permission-dark", "dark", 1440] },
    { name: "permission", hash: session(asking), wait: ".request", docs: ["phone", "dark", 390], again: true },
    { name: "question", hash: session(question), wait: ".request", docs: ["question", "light", 1440] },
    { name: "working", hash: session(running), wait: ".working" },
    { name: "failed", hash: session(failed), wait: ".turn-end", act: subagent },
    { name: "steps", hash: session(steps), wait: ".turn-end" },
    { name: "ended", hash: session(ended), wait: ".composer-closed" },
    { name: "actions", ...turns, act: actions },
    { name: "share", ...turns, act: share },
    { name: "timeline", ...turns, act: openEvent, docs: ["timeline-dark", "dark", 1440] },
    { name: "native", ...turns, act: tab("Native") },
    { name: "coverage", ...turns, act: tab("Coverage"), docs: ["coverage", "light", 1440] },
    { name: "state", ...turns, act: tab("State") },
    { name: "charts", ...turns, act: tab("Charts", ".chart canvas") },
    {
      name: "changes",
      hash: session(main),
      wait: ".turn-end",
      act: tab("Changes", ".changed-file"),
      docs: ["changes", "light", 1440],
    },
    { name: "files", hash: session(main), wait: ".turn-end", act: files },
    { name: "rewind", hash: session(main), wait: ".turn-end", act: rewind },
    { name: "artifacts", ...turns, act: tab("Artifacts") },
    { name: "requests", ...turns, act: tab("Requests") },
    { name: "terminal", hash: session(main), wait: ".turn-end", act: terminal },
    { name: "palette", ...turns, act: (page) => page.keyboard.press("Control+k"), docs: ["palette", "light", 1440] },
    { name: "agents", hash: "/agents", wait: ".verify", docs: ["agents", "light", 1440] },
    { name: "matrix", hash: "/agents", wait: ".verify", act: (page) => page.locator(".matrix").scrollIntoViewIfNeeded() },
    { name: "usage", hash: "/usage", wait: ".chart canvas", docs: ["usage", "light", 1440] },
    { name: "settings", hash: "/settings", wait: ".settings-group" },
    { name: "skills", hash: "/skills", wait: ".page" },
    { name: "compare", hash: `/compare/${main.id}/${asking.id}`, wait: ".turn-end" },
    { name: "approve", hash: "/", role: "approve", wait: ".request" },
    { name: "signed-out", hash: "/", role: null, wait: "input" },
    { name: "docs", path: "/docs/quickstart.html", wait: "main" },
    { name: "api", path: "/docs/api", wait: "main" },
  ];
}
