// Help made from the table of commands.
import { type Command, exitCodes, globalOptions, type OptionSpec } from "./command.ts";
import { commandGroups } from "./commands.ts";
import type { Paint } from "./style.ts";

const pad = (text: string, width: number): string => text + " ".repeat(Math.max(1, width - text.length));

export function overview(paint: Paint): string {
  const groups = commandGroups.map(({ title, commands }) =>
    [paint.bold(title), ...commands.map((command) => `  ${pad(command.usage, 44)}${paint.dim(command.about)}`)].join("\n"),
  );
  return `${[
    `${paint.bold("dragoman")}: drive every coding agent through one daemon.`,
    "",
    ...groups.flatMap((group) => [group, ""]),
    `${paint.bold("Every command")}`,
    optionLines(globalOptions, paint),
    "",
    `Exit codes: ${exitCodes.map(({ code, about }) => `${code} ${about}`).join(", ")}.`,
    "`dragoman` alone starts the daemon and opens the inspector. Try: dragoman run mock help",
  ].join("\n")}\n`;
}

export function commandHelp(command: Command, paint: Paint): string {
  return `${[
    `${paint.bold("dragoman")} ${command.usage}`,
    "",
    `  ${command.about}`,
    ...(command.help ? ["", command.help] : []),
    ...(command.options ? ["", paint.bold("Options"), optionLines(command.options, paint)] : []),
    "",
    paint.bold("Every command"),
    optionLines(globalOptions, paint),
  ].join("\n")}\n`;
}

const optionLines = (options: Record<string, OptionSpec>, paint: Paint): string =>
  Object.entries(options)
    .map(
      ([name, { short, value, about }]) =>
        `  ${pad(`${short ? `-${short}, ` : ""}--${name}${value ? ` ${value}` : ""}`, 28)}${paint.dim(about)}`,
    )
    .join("\n");
