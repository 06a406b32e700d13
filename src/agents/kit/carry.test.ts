import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { AgentHost, CarryPlace } from "../contract.ts";
import { builtInAgents } from "../registry.ts";

const ID = "0199aa11-22bb-7ccc-8ddd-eeff00112233";
const OTHER = "0199aa11-22bb-7ccc-8ddd-eeff00112234";

/** Of each agent whose memory is carried: the files of two sessions, and others, where it keeps them on the machine. */
const KEPT: Record<string, { folder: string; files(id: string): string[]; others: string[] }> = {
  claude: claude(),
  "claude-sdk": claude(),
  "claude-agent-acp": claude(),
  codex: codex(),
  "codex-acp": codex(),
  copilot: {
    folder: "home/.copilot",
    files: (id) => [
      `session-state/${id}/checkpoints/index.md`,
      `session-state/${id}/events.jsonl`,
      `session-state/${id}/workspace.yaml`,
    ],
    others: [
      "config.json",
      `session-state/${ID}/inuse.4711.lock`,
      `session-state/${ID}/.workspace-fork.lock`,
      `session-state/.session-operation-locks/${ID}.lock`,
    ],
  },
  qwen: {
    folder: "home/.qwen",
    files: (id) => [`projects/-work/chats/${id}.jsonl`],
    others: ["settings.json", "projects/-work/meta.json", "sessions/4711-7b02c3b5.json"],
  },
  responses: {
    folder: "state/sessions",
    files: (id) => [`${id}/blobs/ab/abcd`, `${id}/journal`],
    others: [`${ID}/lock`],
  },
};

function claude(): (typeof KEPT)[string] {
  return {
    folder: "home/.claude",
    files: (id) => [`projects/-work/${id}.jsonl`, `projects/-work/${id}/subagents/agent-1.jsonl`],
    others: [".credentials.json", "settings.json", "history.jsonl"],
  };
}

function codex(): (typeof KEPT)[string] {
  return {
    folder: "home/.codex",
    files: (id) => [`sessions/2026/11/19/rollout-2026-11-19T04-05-06-${id}.jsonl`],
    others: ["auth.json", "config.toml", "history.jsonl", "state_5.sqlite"],
  };
}

const carrying = builtInAgents.filter(({ carry }) => carry).map((agent) => agent.id);

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "dragoman-carry-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const placeOf = (native_session_id: string): CarryPlace => ({
  native_session_id,
  directory: "/work",
  environment: { HOME: join(root, "home") },
  host: { settings: {}, stateDir: join(root, "state") } as unknown as AgentHost,
});

it("each agent that is carried stands here", () => expect(Object.keys(KEPT).sort()).toEqual(carrying.sort()));

it.each(carrying)("%s: exactly the files of the session are carried", async (id) => {
  const carry = builtInAgents.find((agent) => agent.id === id)?.carry;
  const kept = KEPT[id];
  if (!carry || !kept) throw new Error(`${id} is not carried`);
  const folder = join(root, kept.folder);
  expect(await carry.files(placeOf(ID))).toEqual([]);
  for (const path of [...kept.files(ID), ...kept.files(OTHER), ...kept.others]) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), path);
  }
  expect(carry.folder(placeOf(ID))).toBe(folder);
  expect([...(await carry.files(placeOf(ID)))].sort()).toEqual(kept.files(ID).sort());
  for (const odd of ["", ".", "..", "../x", ".*", `${ID}/..`, `${ID}|x`]) expect(await carry.files(placeOf(odd))).toEqual([]);
});
