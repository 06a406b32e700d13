/**
 * Permission modes: whether a command and an edit really did not run is looked up on the disk. In every turn the model tries one of the two, and the
 * person rejects whatever is asked, so a file that exists was made without asking. Not here: what an approval does (decisions.ts).
 */

import type { Expectation, ModelStep, Scenario, SessionSettings, Turn } from "../../../agents/scenario.ts";
import { hostileSettings } from "../../../agents/verified.ts";
import type { PermissionMode } from "../../../schema/event-data.ts";

type Tried = { turns: Turn[]; files: NonNullable<Expectation["files"]> };
/** How a mode is entered: what its first turn has beside its prompt. */
type Entry = Pick<Turn, "delivery" | "actions">;

const say = (text: string): ModelStep => ({ blocks: [{ type: "text", text }] });
const MODES = ["plan", "default", "accept_edits", "bypass"] as const satisfies readonly PermissionMode[];
/** What passes without a question, and what a person must be asked for. Plan may ask or refuse. */
const RULES: Record<PermissionMode, { command: boolean; edit: boolean; asks: [boolean?, boolean?] }> = {
  plan: { command: false, edit: false, asks: [] },
  default: { command: false, edit: false, asks: [true, true] },
  accept_edits: { command: false, edit: true, asks: [true, false] },
  bypass: { command: true, edit: true, asks: [false, false] },
};

/** A command and an edit in this mode. Files are named after `label`. */
function tries(mode: PermissionMode, label: string, entry: Entry = {}): Tried {
  const { command, edit, asks } = RULES[mode];
  const [made, written] = [`${label}-command.txt`, `${label}-edit.txt`];
  const turn = (prompt: string, step: ModelStep, asked: boolean | undefined): Turn => ({
    prompt,
    steps: [step, say("Tried.")],
    ...(asked === undefined ? {} : { asks: asked }),
  });
  return {
    turns: [
      {
        ...turn(
          `Run a command in ${label}.`,
          { blocks: [{ type: "tool", name: "shell", input: { command: `sh -c 'echo made > ${made}'` } }] },
          asks[0],
        ),
        ...entry,
      },
      turn(
        `Write a file in ${label}.`,
        { blocks: [{ type: "tool", name: "write", input: { path: `{{cwd}}/${written}`, content: "written\n" } }] },
        asks[1],
      ),
    ],
    files: { [made]: command ? "made" : null, [written]: edit ? "written" : null },
  };
}

const set = (mode: PermissionMode): Entry => ({ actions: [{ do: "set_permission_mode", when: { on: "start" }, mode }] });

function scenario(name: string, title: string, session: SessionSettings, tried: Tried[], more: Partial<Scenario> = {}): Scenario {
  return {
    name,
    title,
    session,
    turns: tried.flatMap(({ turns }) => turns),
    replies: { permissions: [{ reply: "reject", message: "Not now." }], questions: [{ reject: true }] },
    expect: { files: Object.assign({}, ...tried.map(({ files }) => files)) },
    tags: ["long"],
    ...more,
  };
}

/** A turn that changes nothing, so that there is a conversation. */
const hello: Tried = { turns: [{ prompt: "Say hello.", steps: [say("Hello.")] }], files: {} };
const labelOf = (mode: PermissionMode, index: number): string => `${index + 1}-${mode.replace("_", "-")}`;

/** A session that goes through these modes; each change comes in the way `entry` says. */
const through = (modes: readonly PermissionMode[], entry: (mode: PermissionMode) => Entry = set): Tried[] =>
  modes.map((mode, index) => tries(mode, labelOf(mode, index), index === 0 ? {} : entry(mode)));

const dormant = (mode: PermissionMode): Entry => ({ delivery: { mode: "resume" }, ...set(mode) });

const fresh = MODES.map((mode) =>
  scenario(`mode-${mode.replace("_", "-")}`, `a fresh session in ${mode}`, { permission_mode: mode }, [tries(mode, "fresh")]),
);

const changes: Scenario[] = [
  scenario("mode-from-bypass", "from bypass to each narrower mode and back", { permission_mode: "bypass" }, [
    ...through(["bypass", "plan", "bypass", "default", "bypass", "accept_edits", "bypass", "plan"]),
  ]),
  scenario("mode-from-plan", "between plan, default and accept_edits in every direction", { permission_mode: "plan" }, [
    ...through(["plan", "default", "plan", "accept_edits", "default", "accept_edits", "plan"]),
  ]),
  scenario(
    "mode-dormant",
    "the mode is changed while no process runs",
    { permission_mode: "bypass" },
    through(["bypass", "plan", "bypass", "default", "accept_edits", "default"], dormant),
  ),
  scenario("mode-narrowed", "from bypass to default, then to plan", { permission_mode: "bypass" }, [
    ...through(["bypass", "default", "plan"]),
  ]),
];

const lives: Scenario[] = [
  scenario("mode-fork", "a fork has the mode its origin was narrowed to, and its own changes", { permission_mode: "bypass" }, [
    tries("bypass", "origin"),
    { ...hello, turns: hello.turns.map((turn) => ({ ...turn, ...set("default") })) },
    tries("default", "fork", { delivery: { mode: "fork" } }),
    tries("plan", "narrowed", set("plan")),
    tries("plan", "second-fork", { delivery: { mode: "fork" } }),
  ]),
  scenario("mode-crash", "the daemon is killed: the mode is still the one it was narrowed to", { permission_mode: "bypass" }, [
    tries("bypass", "before"),
    tries("default", "narrowed", set("default")),
    tries("default", "after", { delivery: { mode: "crash" } }),
    { ...hello, turns: hello.turns.map((turn) => ({ ...turn, ...set("plan") })) },
    tries("plan", "planning", { delivery: { mode: "crash" } }),
  ]),
];

/** What each agent would take from a repository as leave to do everything. */
const REPOSITORY: Record<string, string> = Object.assign({}, ...hostileSettings.map(({ allowing }) => allowing));

const rules: Scenario[] = [
  scenario(
    "mode-plan-own-rules",
    "plan holds where the person's own configuration allows everything",
    { permission_mode: "plan", permissive: true },
    [...through(["plan", "bypass", "plan"])],
  ),
  scenario(
    "mode-repository-rules",
    "rules of the repository count in no mode",
    { permission_mode: "default", files: REPOSITORY },
    [...through(["default", "plan", "default", "accept_edits"])],
  ),
];

/** The text reaches the model, and nothing else happens. */
const text = (name: string, mode: PermissionMode, prompts: readonly string[], more: Partial<Scenario> = {}): Scenario => ({
  name,
  title: `text that looks like a command is text (${mode})`,
  session: { permission_mode: mode },
  turns: prompts.map((prompt) => ({ prompt, command: false, asks: false, steps: [say("Read it.")] })),
  expect: { stop_reason: "end_turn", final_text: ["Read it."], model_saw: [...prompts], files: { "bang.txt": null } },
  ...more,
});

const texts: Scenario[] = [
  text("mode-text-shell", "default", ["!touch bang.txt", "! touch bang.txt", "#note to remember"]),
  text("mode-text-shell-plan", "plan", ["!touch bang.txt"]),
  text(
    "mode-text-slash",
    "default",
    ["/compact this", "/clear", "/init", "/review it", "/help me", "/model other", "/no-such one"],
    {
      tags: ["long"],
    },
  ),
];

const refused: Scenario[] = [
  scenario("mode-refused-change", "a change that is refused in one part changes nothing", { permission_mode: "default" }, [
    hello,
    tries("default", "after", {
      actions: [
        { do: "refused_update", when: { on: "start" }, patch: { permission_mode: "bypass", agent_mode: "no-such-mode" } },
      ],
    }),
  ]),
];

/** What is allowed for good in one mode is not allowed in plan. The command makes another file when it runs a second time. */
const again = "sh -c 'test -e first.txt && echo made > second.txt; echo made > first.txt'";
const command: ModelStep = { blocks: [{ type: "tool", name: "shell", input: { command: again, escalate: true } }] };
const allowedForGood: Scenario[] = [
  {
    name: "mode-always-then-plan",
    title: "what was allowed for good does not run in plan",
    session: { permission_mode: "default" },
    turns: [
      { prompt: "Run it.", asks: true, steps: [command, say("Ran it.")] },
      { prompt: "Run it again.", ...set("plan"), steps: [command, say("Tried.")] },
    ],
    replies: { permissions: [{ reply: "always" }, { reply: "reject", message: "Not now." }] },
    expect: { files: { "first.txt": "made", "second.txt": null } },
  },
];

/** The mode is narrowed while a command runs: the next one is asked for, or the change was refused because a turn runs. */
const running: Scenario[] = [
  {
    name: "mode-while-running",
    title: "the mode is narrowed in the middle of a turn",
    session: { permission_mode: "bypass" },
    turns: [
      {
        prompt: "Wait, then run a command.",
        steps: [
          { blocks: [{ type: "tool", name: "shell", input: { command: "sleep 3; echo waited" } }] },
          { blocks: [{ type: "tool", name: "shell", input: { command: "sh -c 'echo made > late.txt'" } }] },
          say("Tried."),
        ],
        actions: [{ do: "set_permission_mode", when: { on: "tool" }, mode: "default", or_busy: true }],
      },
    ],
    replies: { permissions: [{ reply: "reject", message: "Not now." }] },
    expect: { files: { "late.txt": null } },
  },
];

export const modeScenarios: readonly Scenario[] = [
  ...fresh,
  ...changes,
  ...lives,
  ...rules,
  ...texts,
  ...refused,
  ...allowedForGood,
  ...running,
];
