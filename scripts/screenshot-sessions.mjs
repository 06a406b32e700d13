/**
 * The sessions that are shown in the screenshots: a day's work. Our own agent really does it (it runs commands, changes files, asks), and a scripted model says what
 * its stories tell. Sessions that have ended are shown as other agents had them, through export and import. Not here: the views and the camera.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { mockAgent } from "../build/agents/mock/agent.js";
import { startModelServer } from "../build/verify/model-server/index.js";
import { verifyProfiles } from "../build/verify/profiles.js";

/** The agent that needs no installation but is told where its model is. */
const OWN = [...verifyProfiles.values()].find(({ process, shown }) => shown && process === false);
/** Those in whose name a finished session is shown. */
const OTHERS = [...verifyProfiles.values()].filter((profile) => profile.shown && profile !== OWN).map(({ agent }) => agent);
/** Slow enough that the turn still runs when the last picture is taken. */
const A_WORD_MS = 8_000;
const MODEL = "qwen3-coder";

const say = (text) => ({ type: "text", text });
const think = (text) => ({ type: "thinking", text });
const call = (name, input) => ({ type: "tool", name, input });
const plan = (...done) =>
  call("todo", {
    items: ["Run the tests", "Find what drops the line", "Keep the rest of the buffer", "Run the whole suite"].map(
      (text, at) => ({
        text,
        status: done[at] ?? "pending",
      }),
    ),
  });
let spent = 3_100;
/** One answer of the model; each request is a little longer than the one before. */
const step = (...blocks) => {
  spent += 640;
  return { blocks, usage: { input: spent, output: 90 + (spent % 170), cache_read: spent - 900 }, delay_ms: 120 };
};

const READER =
  'export class LineReader {\n  push(chunk) {\n    const lines = chunk.split("\\n");\n    lines.pop();\n    return lines;\n  }\n}\n';
const READER_TEST = `import assert from "node:assert/strict";
import { test } from "node:test";
import { LineReader } from "./line-reader.js";

test("reads whole lines", () => assert.deepEqual(new LineReader().push("a\\nb\\n"), ["a", "b"]));
test("keeps a line that spans two chunks", () => {
  const reader = new LineReader();
  reader.push("first li");
  assert.deepEqual(reader.push("ne\\n"), ["first line"]);
});
`;
const PACKAGE = (scripts) => `${JSON.stringify({ name: "reader", type: "module", scripts }, null, 2)}\n`;
const parserFiles = {
  "package.json": PACKAGE({ test: "node --test --test-reporter=tap src" }),
  "src/line-reader.js": READER,
  "src/line-reader.test.js": READER_TEST,
};

/** What the model says, turn by turn. */
const STORIES = {
  parser: {
    title: "Fix the failing parser tests",
    files: parserFiles,
    permission_mode: "bypass",
    turns: [
      {
        prompt: "A parser test fails since yesterday. Find out why and fix it.",
        steps: [
          step(
            think(
              "**Finding the failing case**\n\nThe test names a line that spans two chunks. I run the suite first, then read the reader.",
            ),
            say("I run the suite first to see the failing case."),
            plan("in_progress"),
          ),
          step(call("shell", { command: "npm test", description: "Run the tests" })),
          step(
            plan("completed", "in_progress"),
            call("read", { path: "src/line-reader.js" }),
            call("search", { pattern: "LineReader" }),
          ),
          step(
            think("`lines.pop()` throws away what follows the last newline."),
            say("`push` drops what follows the last newline. I keep it for the next chunk:"),
            call("edit", {
              path: "src/line-reader.js",
              old: '  push(chunk) {\n    const lines = chunk.split("\\n");\n    lines.pop();',
              new: '  #rest = "";\n\n  push(chunk) {\n    const lines = (this.#rest + chunk).split("\\n");\n    this.#rest = lines.pop() ?? "";',
            }),
          ),
          step(
            plan("completed", "completed", "completed", "in_progress"),
            call("shell", { command: "npm test", description: "Run the tests" }),
          ),
          step(
            call("write", { path: "CHANGES.md", content: "- A line that spans two chunks is kept.\n" }),
            plan("completed", "completed", "completed", "completed"),
          ),
          step(
            say(
              "Fixed. `push` now puts the rest of the last chunk before the next one, so a line that spans two chunks is kept.\n\n| | before | after |\n| --- | --- | --- |\n| passed | 1 | **2** |\n| failed | 1 | 0 |\n\nThe change is one method in `src/line-reader.js`; I also noted it in `CHANGES.md`.",
            ),
          ),
        ],
      },
      {
        prompt: "Thank you. Could the same happen with `\\r\\n`?",
        steps: [
          step(
            say(
              "No line is lost, but each would end in `\\r`. If you read files from Windows, split at both:\n\n```js\nconst lines = (this.#rest + chunk).split(/\\r?\\n/);\n```\n\nOne case stays: a chunk that ends between `\\r` and `\\n`. Shall I add it with a test?",
            ),
          ),
        ],
      },
    ],
  },
  deploy: {
    title: "Ship release 2.4",
    files: {
      "package.json": PACKAGE({ release: "node release.js" }),
      "CHANGELOG.md": "# 2.4.0\n\n- Faster start\n- Search in all sessions\n",
    },
    waits: true,
    turns: [
      {
        prompt: "Ship release 2.4: check the changelog, then publish.",
        steps: [
          step(say("I read the changelog before anything leaves this machine."), call("read", { path: "CHANGELOG.md" })),
          step(
            say("Two entries, both are merged. Next I clean the build and publish it."),
            call("shell", { command: "rm -rf dist && npm run release -- --tag v2.4.0", description: "Build and publish" }),
          ),
        ],
      },
    ],
  },
  design: {
    title: "Colours for the new theme",
    waits: true,
    turns: [
      {
        prompt: "Make a dark theme for the settings page.",
        steps: [
          step(
            say("Before I start, two decisions are yours."),
            call("ask", {
              questions: [
                {
                  question: "Which palette should the dark theme use?",
                  options: [{ label: "Slate" }, { label: "Warm grey" }, { label: "Black" }],
                },
                { question: "Should it follow the system?", options: [{ label: "Yes" }, { label: "Only when chosen" }] },
              ],
            }),
          ),
        ],
      },
    ],
  },
  website: {
    title: "Check every link of the site",
    waits: true,
    turns: [
      {
        prompt: "Check every link of the site and list those that are dead.",
        steps: [
          {
            blocks: [
              {
                ...say(
                  "I check every link of the site, one page after the other, and write down those that answer with an error.".repeat(
                    8,
                  ),
                ),
                chunks: 200,
              },
            ],
            chunk_delay_ms: A_WORD_MS,
          },
        ],
      },
    ],
  },
  editor: {
    title: "Rename the option --fast",
    files: {
      "check.sh":
        "printf '\\033[32m✓\\033[0m 12 passed\\n\\033[31m✗\\033[0m 1 failed  \\033[1moptions.test.js\\033[0m\\n'; exit 1\n",
      "src/options.js": "export const options = { fast: false };\n",
      "README.md": "Use `--fast` for a quick check.\n",
    },
    permission_mode: "bypass",
    turns: [
      {
        prompt: "Rename the option --fast to --quick everywhere.",
        steps: [
          step(call("search", { pattern: "fast" }), call("glob", { pattern: "**/*.js" })),
          step(call("read", { path: "README.md" })),
          step(
            call("edit", { path: "src/options.js", old: "fast: false", new: "quick: false" }),
            call("edit", { path: "README.md", old: "`--fast`", new: "`--quick`" }),
          ),
          step(call("shell", { command: "sh check.sh", description: "Run the tests" })),
          step(
            say(
              "The option is renamed in both files. One test still expects the old name: `options.test.js`, line 14. Shall I change it too?",
            ),
          ),
        ],
      },
    ],
  },
  archive: {
    title: "Pack the old reports",
    ends: true,
    as: 1,
    turns: [
      {
        prompt: "Pack the reports of last year.",
        steps: [step(say("All 214 reports are packed into `reports-2025.tar.gz` (38 MB)."))],
      },
    ],
  },
  pages: {
    title: "Move the site to the new build",
    as: 2,
    turns: [
      { prompt: "Move the site to the new build.", steps: [step(say("Done: all 48 pages build, and the links are checked."))] },
    ],
  },
};

/** The mock acts out what the scripted model cannot: a sub-agent inside the conversation, and the end of a usage limit. Its words are changed. */
const FAILED = {
  title: "Why does the nightly job time out?",
  acts: ["subagent", "error rate_limit"],
  words: [
    ['"text":"subagent"', '"text":"Why does the nightly job time out?"'],
    ["error rate_limit", "Raise its limit to 20 minutes, then run it once."],
    ["Look around", "Read the log of the last five nights"],
    ["I am the sub-agent.", "I look at the last five logs."],
    ["find .", "grep -c 'waiting for lock' logs/nightly-*.log"],
    ["It looks fine.", "Four of five nights wait for the lock of the backup."],
    [
      "The sub-agent is back.",
      "The job waits for the backup: both start at 02:00, and the backup holds the lock for 14 minutes.",
    ],
    ["The mock failed with rate_limit.", "You have used all of today's requests. The limit resets at 06:00."],
  ],
};

/** The same session in other words, or as another agent had it. */
async function retold(api, session, { agent, words = [] }) {
  const lines = (await (await session.export()).text()).trim().split("\n");
  const told = lines.map((line) => {
    const part = JSON.parse(line);
    if (part.kind === "session" && agent) part.row.agent = agent;
    return words.reduce((text, [from, to]) => text.replaceAll(from, to), JSON.stringify(part));
  });
  await session.remove();
  await api.importSession(inStep(told), { session_id: session.id });
  return session;
}

/** Deltas must add up to the item they grew into. */
function inStep(told) {
  const lines = told.map((line) => JSON.parse(line));
  const events = lines.flatMap((line) => (line.kind === "event" ? [line.event] : []));
  for (const { type, data } of events) {
    if (type !== "item.completed") continue;
    data.item.content.forEach((part, index) => {
      const words = (part.text ?? part.output ?? "").match(/\S+\s*|\s+/g) ?? [];
      const deltas = events.filter(
        (each) => each.type === "item.delta" && each.data.item_id === data.item.item_id && each.data.part_index === index,
      );
      deltas.forEach((each, at) => {
        each.data.delta = (at === deltas.length - 1 ? words.slice(at) : words.slice(at, at + 1)).join("");
      });
    });
  }
  return lines.map((line) => JSON.stringify(line)).join("\n");
}

async function played(api, home, name, story, servers) {
  const directory = join(home, name);
  mkdirSync(directory, { recursive: true });
  for (const [path, content] of Object.entries(story.files ?? {})) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), content);
  }
  const model = await startModelServer({ scenarios: [{ name, title: story.title, turns: story.turns }], default: name });
  servers.push(model);
  const { env } = await OWN.setUp({ home, root: home, modelUrl: model.url, port: model.port });
  const mode = story.permission_mode ? { permission_mode: story.permission_mode } : {};
  let session = await api.createSession({ agent: OWN.agent, directory, env, model: MODEL, title: story.title, ...mode });
  for (const { prompt } of story.turns) await (story.waits ? session.send(prompt) : session.prompt(prompt));
  if (story.ends) await session.terminate();
  if (story.as !== undefined) session = await retold(api, session, { agent: OTHERS[story.as] });
  return session;
}

/** The sessions by what they show, and what must be ended with them. */
export async function work(api, home) {
  const servers = [];
  const of = {};
  for (const name of ["pages", "archive", "editor", "parser", "deploy", "design", "website"])
    of[name] = await played(api, home, name, STORIES[name], servers);
  const directory = join(home, "payments");
  mkdirSync(directory);
  const mock = await api.createSession({ agent: mockAgent.id, directory, title: FAILED.title });
  for (const act of FAILED.acts) await mock.prompt(act);
  const failed = await retold(api, mock, { agent: OTHERS[0], words: FAILED.words });
  const { parser, deploy, design, website, editor, archive } = of;
  return {
    shown: { main: parser, asking: deploy, question: design, running: website, failed, steps: editor, ended: archive },
    close: () => Promise.all(servers.map((server) => server.close())),
  };
}
