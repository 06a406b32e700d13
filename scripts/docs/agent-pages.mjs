// The table of abilities in docs/agents/<id>.md: made from the agent's own capabilities, between two marks. What stands around it is written by hand.
import { existsSync } from "node:fs";
import { builtInAgents } from "../../build/agents/registry.js";

const BEGIN = "<!-- abilities: made by scripts/docs.mjs -->";
const END = "<!-- end -->";

const WORDS = {
  permissions: "permissions are asked and answered while the turn waits",
  questions: "asks questions",
  steer: "a message can be put into the running turn",
  interrupt: "a turn can be interrupted",
  edit_input: "runs a call with an input that a person edited",
  resume: "goes on after a restart",
  fork: "a conversation can be branched",
  images: "takes images",
  mcp_servers: "takes MCP servers with the session",
  system_prompt: "takes an addition to its system prompt",
  deltas: "streams its answer piece by piece",
  reasoning: "shows its reasoning",
  plans: "shows its plan",
  subagents: "shows the work of sub-agents",
};

/** Agents without a page of their own speak ACP and share docs/agents/acp.md. */
const hasPage = ({ id }) => existsSync(new URL(`../../docs/agents/${id}.md`, import.meta.url));

export function agentPages(read) {
  const own = builtInAgents.filter(hasPage);
  const acp = builtInAgents.filter((agent) => !hasPage(agent));
  return {
    ...Object.fromEntries(
      own.map((agent) => [`agents/${agent.id}.md`, fill(read(`agents/${agent.id}.md`), abilities(agent), agent.id)]),
    ),
    "agents/acp.md": fill(read("agents/acp.md"), list(acp), "acp"),
  };
}

function fill(page, table, id) {
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (after === undefined) throw new Error(`docs/agents/${id}.md needs the lines ${BEGIN} and ${END}`);
  return `${before}${BEGIN}\n\n${table}\n\n${END}${after}`;
}

function abilities({ capabilities, npmPackage }) {
  const rows = Object.entries(WORDS).map(([name, words]) => `| ${words} | ${capabilities[name] ? "yes" : "no"} |`);
  const live = Object.entries(capabilities.live)
    .filter(([, can]) => can)
    .map(([name]) => `\`${name}\``);
  return [
    "| | |",
    "| --- | --- |",
    ...rows,
    `| can change while the session lives | ${live.join(", ") || "nothing"} |`,
    `| permission modes | ${capabilities.permission_modes.map((mode) => `\`${mode}\``).join(", ")} |`,
    `| \`dragoman agents install\` | ${npmPackage ? `\`${npmPackage.name}\` ${npmPackage.version}` : "no"} |`,
  ].join("\n");
}

const list = (agents) =>
  [
    "| agent | name | fork | questions | installed from |",
    "| --- | --- | --- | --- | --- |",
    ...agents.map(
      ({ id, name, capabilities, npmPackage }) =>
        `| \`${id}\` | ${name} | ${capabilities.fork ? "yes" : "no"} | ${capabilities.questions ? "yes" : "no"} | ${npmPackage ? `\`${npmPackage.name}\`` : "its own installer"} |`,
    ),
  ].join("\n");
