// Prepares the place where a scenario is played: files, git, MCP servers, attachments, the session's settings.
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { builtFile } from "../package-root.ts";
import type { AttachmentInput, CreateSession } from "../schema/session.ts";
import type { Lab } from "./lab.ts";
import type { Scenario, SessionSettings, Turn } from "./scenario/index.ts";

const ECHO_SERVER = fileURLToPath(builtFile("verify/scenario/mcp-echo-server.js"));

export type Stage = { directory: string; request: CreateSession };

export async function setUpScenario(lab: Lab, scenario: Scenario): Promise<Stage> {
  const { profile, place } = lab;
  const session: SessionSettings = scenario.session ?? {};
  const { directory, own } = await lab.folder(scenario.name);
  for (const [path, content] of Object.entries(session.files ?? {})) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), content.replaceAll("{{cwd}}", directory));
  }
  const extra = await profile.forScenario?.(scenario, { ...place, directory, own });
  const rules = session.permissive ? await profile.permissive?.({ ...place, directory, own }) : {};
  if (session.git) await initGit(directory);
  const env = { ...extra?.env, ...rules, ...session.env };
  const mode = session.permission_mode ?? profile.mode;
  const model = session.model ?? profile.models.first;
  return {
    directory,
    request: {
      agent: profile.agent,
      directory,
      trust: session.trust ?? (session.files ? "trusted" : "restricted"),
      title: scenario.title,
      ...(model === undefined ? {} : { model: model.replaceAll("{{other_model}}", profile.models.other ?? "") }),
      ...(mode === undefined ? {} : { permission_mode: mode }),
      ...(session.system_prompt === undefined ? {} : { system_prompt: session.system_prompt }),
      ...(session.mcp_servers === undefined ? {} : { mcp_servers: session.mcp_servers.map(mcpServer) }),
      ...(Object.keys(env).length === 0 ? {} : { env }),
    },
  };
}

type ScenarioMcpServer = NonNullable<SessionSettings["mcp_servers"]>[number];

function mcpServer(server: ScenarioMcpServer): NonNullable<CreateSession["mcp_servers"]>[number] {
  if (!("builtin" in server)) return server;
  return { name: server.name, type: "stdio", command: process.execPath, args: [ECHO_SERVER] };
}

async function initGit(directory: string): Promise<void> {
  const git = (...args: string[]) => promisify(execFile)("git", args, { cwd: directory });
  const who = ["-c", "user.name=user", "-c", "user.email=user@example.com", "-c", "commit.gpgsign=false"];
  await git("init", "--quiet", "--initial-branch=main");
  await git("add", "-A");
  await git(...who, "commit", "--quiet", "--allow-empty", "-m", "the state before the session");
}

export const attachmentsOf = (turn: Turn): AttachmentInput[] =>
  (turn.attachments ?? []).map((attachment) =>
    attachment.type === "file"
      ? { path: attachment.path }
      : {
          data: attachment.base64,
          mime: attachment.media_type,
          ...(attachment.name === undefined ? {} : { name: attachment.name }),
        },
  );
