// docs/cli.md: every command, from the table the command line itself uses.
import { exitCodes, globalOptions } from "../../build/cli/command.js";
import { commandGroups } from "../../build/cli/commands.js";

const cell = (text) => text.replaceAll("|", "\\|");

const options = (table) =>
  [
    "| option | what it does |",
    "| --- | --- |",
    ...Object.entries(table).map(
      ([name, { short, value, about }]) =>
        `| \`${short ? `-${short}, ` : ""}--${name}${value ? ` ${cell(value)}` : ""}\` | ${cell(about)} |`,
    ),
  ].join("\n");

const command = ({ usage, about, help, options: own }) =>
  [
    `### \`dragoman ${usage}\``,
    "",
    `${about[0].toUpperCase()}${about.slice(1)}.`,
    ...(help ? ["", "```text", help.replace(/^ {2}/gm, ""), "```"] : []),
    ...(own ? ["", options(own)] : []),
  ].join("\n");

export function cliPage() {
  const groups = commandGroups.map(({ title, commands }) => `## ${title}\n\n${commands.map(command).join("\n\n")}`);
  return `# Command line

\`dragoman help\` and \`dragoman help <command>\` say the same. This page is made from the table of commands by \`node scripts/docs.mjs\`.

Answers go to stdout, everything about how they came to be to stderr: a pipe gets the answer alone. With \`--json\` every command prints JSON, one object
a line, and a fault is one object \`{"error": {"code", "message"}}\` on stderr. Colours are left out in a pipe, with \`NO_COLOR\`, and with \`TERM=dumb\`.

## Exit codes

| code | meaning |
| ---: | --- |
${exitCodes.map(({ code, about }) => `| ${code} | ${about} |`).join("\n")}

## Every command

${options(globalOptions)}

Instead of options: \`DRAGOMAN_URL\`, \`DRAGOMAN_TOKEN\`, \`DRAGOMAN_DATA_DIR\`, \`DRAGOMAN_CONFIG\`, \`DRAGOMAN_HOST\`, \`DRAGOMAN_PORT\`, \`DRAGOMAN_LOG\`.

${groups.join("\n\n")}
`;
}
