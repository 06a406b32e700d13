/**
 * A real agent in the inspector, in a real browser, as a person uses it: make a session, watch an answer come, allow a command, review what it changed, interrupt a
 * turn, go on after the agent's process was killed, look behind it, end it.
 * With DRAGOMAN_PICTURES=<folder> each step leaves a picture there.
 */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { Lab } from "../build/verify/lab.js";
import { verifyProfiles } from "../build/verify/profiles.js";
import { commonScenarios, promptFor } from "../build/verify/scenario/index.js";
import { setUpScenario } from "../build/verify/scenario-setup.js";
import { launchBrowser } from "./browser.mjs";

/** Those the inspector is tried with. */
export const BROWSED = [...verifyProfiles.values()].filter(({ shown }) => shown).map(({ agent }) => agent);
/** Longer than an agent needs to start on a machine with much else to do. */
const STEP_MS = 90_000;
/** Slow enough that a person sees it grow, and that a program which starts on a busy machine cannot gather it all into one piece. */
const growing = {
  name: "in-browser",
  title: "an answer that comes bit by bit",
  turns: [
    {
      prompt: "Count slowly.",
      steps: [{ blocks: [{ type: "text", text: "One, two, three, four, five. The end.", chunks: 10 }], chunk_delay_ms: 300 }],
    },
  ],
};
/** Goes on for long enough to be interrupted. */
const endless = {
  name: "in-browser-endless",
  title: "an answer that is interrupted",
  turns: [
    {
      prompt: "Count to a thousand.",
      steps: [
        {
          blocks: [
            { type: "text", text: Array.from({ length: 1_000 }, (_, at) => `number ${at + 1}`).join(", "), chunks: 1_000 },
          ],
          chunk_delay_ms: 200,
        },
      ],
    },
  ],
};
const returning = {
  name: "in-browser-returning",
  title: "an answer of an agent that was started again",
  turns: [{ prompt: "Are you there?", steps: [{ blocks: [{ type: "text", text: "Here again." }] }] }],
};
const allowing = commonScenarios.find(({ name }) => name === "permission-allow");

/** What went wrong, in sentences; none when all was as a person expects. */
export async function browse(agent, env) {
  const failures = [];
  let browser;
  let lab;
  try {
    browser = await launchBrowser();
    lab = await Lab.open({ profile: verifyProfiles.get(agent), scenarios: [growing, allowing, endless, returning], env });
    const page = await openPage(browser, lab, failures);
    await asPerson(page, lab, failures).catch(async (error) => {
      await pictureOf(page, agent)("failure").catch(() => {});
      throw error;
    });
  } catch (error) {
    failures.push(
      String(error instanceof Error ? error.message : error)
        .split("\n")
        .slice(0, 4)
        .join(" "),
    );
  } finally {
    await browser?.close();
    failures.push(...((await lab?.close()) ?? []));
  }
  return failures;
}

/** Watched all along: no error, no breach of the policy, no request elsewhere. */
async function openPage(browser, lab, failures) {
  const { http } = lab.client();
  const page = await browser.newPage({ viewport: { width: 1360, height: 850 } });
  page.setDefaultTimeout(STEP_MS);
  page.on("pageerror", (error) => failures.push(`the page failed: ${error.message}`));
  page.on("console", (message) => {
    if (/Content Security Policy/i.test(message.text())) failures.push(message.text());
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(`${http.url}/`) && !/^(data|blob):/.test(request.url()))
      failures.push(`the page asked for ${request.url()}`);
  });
  await page.goto((await lab.client().makeLink()).url);
  return page;
}

async function asPerson(page, lab, failures) {
  const { directory, request } = await setUpScenario(lab, allowing);
  const picture = pictureOf(page, request.agent);
  const check = (holds, sentence) => holds || failures.push(sentence);
  await countGrowth(page);
  await makeSession(page, request, promptFor(growing, 0, directory));
  await page.getByRole("article", { name: "Agent" }).getByText("The end.").waitFor();
  await page.locator(".turn-end").first().waitFor();
  const grown = await page.evaluate(() => [...window.lengthsSeen]);
  check(grown.length > 2, `the answer did not come bit by bit: the page showed ${grown} letters, ${await arrivals(page, lab)}`);
  await say(page, promptFor(allowing, 0, directory));
  const card = page.locator(".request.permission");
  await card.getByText("touch made.txt").first().waitFor();
  check(!existsSync(join(directory, "made.txt")), "the command ran before it was allowed");
  await picture("permission");
  await card.locator('[data-answer="allow_once"]').first().click();
  await page.getByRole("article", { name: "Agent" }).getByText("Made it.").waitFor();
  await card.waitFor({ state: "detached" });
  check(existsSync(join(directory, "made.txt")), "the command was allowed and did not run");
  await page.locator(".turn-end").nth(1).waitFor();
  check((await page.locator(".tool").count()) > 0, "the tool call is not shown");
  check((await page.locator(".tool .tool-name", { hasText: "Ran" }).count()) > 0, "the tool call is not told in words");
  check((await page.locator(".tool-title", { hasText: "touch made.txt" }).count()) > 0, "the command does not stand in its card");
  await page.getByRole("navigation").locator(".session-line", { hasText: "Made it." }).waitFor();
  await picture("answer");
  await review(page);
  await picture("review");
  await interrupt(page, promptFor(endless, 0, directory));
  if (lab.profile.process !== false) await resume(page, lab, check);
  await say(page, promptFor(returning, 0, directory));
  await page.getByRole("article", { name: "Agent" }).getByText("Here again.").waitFor();
  await picture("resumed");
  await lookBehind(page, check);
  await picture("coverage");
  await page.getByRole("button", { name: "Session actions" }).click();
  await page.getByRole("menuitem", { name: "End session" }).click();
  await page.locator(".session-end").waitFor();
}

/** What the turn changed, from the line below it. */
async function review(page) {
  await page.getByRole("button", { name: "Review changes" }).last().click();
  await page.getByRole("tabpanel", { name: "Changes" }).locator(".changed-file", { hasText: "made.txt" }).waitFor();
  await page.getByRole("button", { name: "Close the drawer" }).click();
}

async function interrupt(page, prompt) {
  const ended = await page.locator(".turn-end").count();
  await say(page, prompt);
  await page.getByRole("article", { name: "Agent" }).getByText("number 3").waitFor();
  await page.getByRole("button", { name: "Interrupt" }).click();
  await page.locator(".turn-end").nth(ended).getByText("Interrupted").waitFor();
}

/** The agent dies; the session stays, and goes on: when a person wants it, or with the next message where the agent is started again by itself. */
async function resume(page, lab, check) {
  const before = await lab.agentPids();
  check((await lab.killAgents("SIGKILL")) > 0, "no process of the agent was found to kill");
  if (lab.profile.process === "restarted") return newProcess(lab, before);
  const button = page.getByRole("button", { name: "Resume" });
  await button.click();
  await button.waitFor({ state: "detached" });
}

/** Started by the daemon itself. What is sent before that, into the dead one, is a turn with an error. */
async function newProcess(lab, before) {
  const end = Date.now() + STEP_MS;
  while ((await lab.agentPids()).every((pid) => before.includes(pid))) {
    if (Date.now() > end) throw new Error("the agent's process was not started again");
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Nothing, unless somebody wants to look at it. */
function pictureOf(page, agent) {
  const folder = process.env.DRAGOMAN_PICTURES;
  if (!folder) return async () => {};
  mkdirSync(folder, { recursive: true });
  return (name) => page.screenshot({ path: join(folder, `${agent}-${name}.png`) });
}

/** From the box a person begins with: agent, directory, model and environment, and the first message. */
async function makeSession(page, { agent, directory, model, permission_mode, env = {} }, prompt) {
  await page
    .getByRole("button", { name: /^New session/ })
    .first()
    .click();
  const box = page.getByRole("region", { name: "New session" });
  await choose(page, box.getByRole("button", { name: /^Agent:/ }), agent);
  await write(page, box.getByRole("button", { name: /^Directory:/ }), directory);
  if (model) await write(page, box.getByRole("button", { name: /^Model:/ }), model);
  if (permission_mode) await choose(page, box.getByRole("button", { name: /^Permissions:/ }), permission_mode);
  const lines = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  if (lines.length > 0) {
    await box.getByRole("button", { name: "More options" }).click();
    await page.getByLabel("Environment").fill(lines.join("\n"));
    await page.getByRole("button", { name: "Done" }).click();
  }
  await page.getByLabel("What should be done?").fill(prompt);
  await page.keyboard.press("Enter");
  // At once, whatever the agent needs to start.
  await page.getByRole("article", { name: "You" }).waitFor();
  await page.locator(".working").waitFor();
}

async function choose(page, button, value) {
  await button.click();
  await page.locator(`[role=option][data-value="${value}"]`).click();
  await menuClosed(page);
}

/** What is not on offer can be typed. */
async function write(page, button, value) {
  await button.click();
  await page.getByRole("dialog").getByRole("combobox").fill(value);
  await page.locator(`[role=option][data-value="${value}"]`).first().click();
  await menuClosed(page);
}

/** A menu fades for a moment after the choice; until then the page has two of the next one's fields. */
const menuClosed = (page) => page.locator("[role=option][data-value]").first().waitFor({ state: "detached" });

async function say(page, text) {
  await page.getByLabel("Message", { exact: true }).fill(text);
  await page.keyboard.press("Enter");
}

/** How long the last answer was each time the page changed. */
const countGrowth = (page) =>
  page.evaluate(() => {
    window.lengthsSeen = new Set();
    new MutationObserver(() => {
      const last = [...document.querySelectorAll("article.assistant")].at(-1);
      if (last) window.lengthsSeen.add(last.textContent.length);
    }).observe(document.body, { childList: true, subtree: true, characterData: true });
  });

/** When the log got the pieces of the answer: whether it was the agent or the page that gathered them. */
async function arrivals(page, lab) {
  const { events } = await lab
    .client()
    .session(new URL(page.url()).hash.split("/")[2])
    .page({ types: ["item.delta"] });
  return `its pieces came at ${events.map(({ time }) => time.slice(17, 23))}`;
}

/** The native message beside an event, and that all of them were understood. */
async function lookBehind(page, check) {
  await page.getByRole("button", { name: /the debugging drawer/ }).click();
  await page.getByRole("tab", { name: "Timeline" }).click();
  await page.locator("[data-sequence]").first().waitFor();
  await choose(page, page.getByRole("button", { name: /^Event source:/ }), "agent");
  await choose(page, page.getByRole("button", { name: /^Event type:/ }), "item.completed");
  await page.locator("[data-sequence]").last().click();
  const detail = page.getByRole("region", { name: /^Event/ });
  await detail.locator("h3", { hasText: "Native message" }).waitFor();
  await detail.locator(".code-block").nth(1).waitFor();
  const native = (await detail.locator(".code-block").nth(1).textContent()) ?? "";
  check(native.length > 20, "the native message is not beside its event");
  await page.getByRole("tab", { name: "Coverage" }).click();
  await page.locator(".totals .unparsed dd").waitFor();
  const [mapped, unparsed] = await Promise.all(
    ["mapped", "unparsed"].map(async (kind) =>
      Number((await page.locator(`.totals .${kind} dd`).textContent()).replaceAll(/\D/g, "")),
    ),
  );
  check(mapped > 0, "no native message was mapped");
  check(unparsed === 0, `${unparsed} native messages were not understood`);
}
