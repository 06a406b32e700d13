/**
 * A hostile directory: settings of every agent, each of which leaves a file behind when it is obeyed or sends requests to an address where nobody answers.
 * Restricted, none of it happens; trusted, it does, which shows that the files are ones the agent really loads.
 */
import { type HostileSettings, proofFile, script } from "../../../agents/kit/verify/hostile-directory.ts";
import type { Expectation, ModelStep, Scenario } from "../../../agents/scenario.ts";
import { hostileSettings } from "../../../agents/verified.ts";

const say = (text: string): ModelStep => ({ blocks: [{ type: "text", text }] });
/** Programs made with Bun read this from the directory they run in, unless they were built not to. */
const bun: HostileSettings = {
  files: () => ({ "bunfig.toml": 'preload = ["./preload.cjs"]\n', "preload.cjs": script("bunfig") }),
  proofs: ["bunfig"],
};
const everyone: readonly HostileSettings[] = [...hostileSettings, bun];

/** `urls`: it also sends requests elsewhere, which ends every turn of an agent that obeys. */
const hostileFiles = (urls: boolean): Record<string, string> => Object.assign({}, ...everyone.map(({ files }) => files(urls)));

const none = Object.fromEntries(everyone.flatMap(({ proofs }) => proofs).map((name) => [proofFile(name), null]));
const untouched: Record<string, string> = Object.assign({}, ...everyone.map((settings) => settings.untouched ?? {}));

const held: Expectation = { stop_reason: "end_turn", final_text: ["Nothing of it ran."], files: none, files_without: untouched };
const ran: Expectation = { stop_reason: "end_turn", final_text: ["It was loaded."], files_without: untouched };

export const trustScenarios: readonly Scenario[] = [
  {
    name: "trust-restricted",
    title: "a directory that is not trusted: its settings, hooks, MCP servers, plugins, helpers and addresses are not used",
    session: { trust: "restricted", files: hostileFiles(true), git: true },
    turns: [{ prompt: "Say that nothing ran.", steps: [say("Nothing of it ran.")] }],
    expect: held,
  },
  {
    name: "trust-declined",
    title: "a person is asked before the first start and says no: the agent works without them",
    session: { trust: "ask", files: hostileFiles(true), git: true },
    turns: [{ prompt: "Say that nothing ran.", steps: [say("Nothing of it ran.")] }],
    replies: { permissions: [{ reply: "reject" }] },
    expect: { ...held, events: ["permission.requested", "permission.resolved"] },
  },
  {
    name: "trust-resumed",
    title: "a restricted session stays restricted when the daemon was restarted",
    session: { trust: "restricted", files: hostileFiles(true) },
    turns: [
      { prompt: "Begin.", steps: [say("Begun.")] },
      { prompt: "Say that nothing ran.", delivery: { mode: "resume" }, steps: [say("Nothing of it ran.")] },
    ],
    expect: held,
  },
  {
    name: "trust-allowed",
    title: "a person is asked before the first start and says yes: the directory's settings are loaded",
    session: { trust: "ask", files: hostileFiles(false), git: true },
    turns: [{ prompt: "Say that it was loaded.", steps: [say("It was loaded.")] }],
    replies: { permissions: [{ reply: "once" }] },
    expect: { ...ran, events: ["permission.requested", "permission.resolved"] },
  },
];
