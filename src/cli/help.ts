/** Help made from the table of commands, as wide as the screen. */
import { type Command, exitCodes, globalOptions, type OptionSpec, type Terminal } from "./command.ts";
import { commandGroups } from "./commands.ts";
import { type Paint, paintFor } from "./style.ts";
import { columnsOf, width, wrap } from "./text-layout.ts";

type Page = { paint: Paint; columns: number };

/** Longer lines are hard to read. */
const WIDEST = 140;
/** What is explained takes at most so much of a line. */
const LEFT_SHARE = 0.45;

export const pageFor = ({ stdout, env }: Terminal): Page => ({
  paint: paintFor(stdout, env),
  columns: Math.min(WIDEST, columnsOf(stdout, env)),
});

export function overview(page: Page): string {
  const { paint, columns } = page;
  const groups = commandGroups.map(({ title, commands }) =>
    [
      paint.bold(title),
      ...entries(
        commands.map(({ usage, about }) => [usage, about]),
        page,
        44,
      ),
    ].join("\n"),
  );
  return `${[
    ...wrap(`${paint.bold("dragoman")}: drive every coding agent through one daemon.`, columns),
    "",
    ...groups.flatMap((group) => [group, ""]),
    `${paint.bold("Every command")}`,
    ...optionLines(globalOptions, page),
    "",
    ...wrap(`Exit codes: ${exitCodes.map(({ code, about }) => `${code} ${about}`).join(", ")}.`, columns),
    ...wrap("`dragoman` alone starts the daemon and opens the inspector. Try: dragoman run mock help", columns),
  ].join("\n")}\n`;
}

export function commandHelp(command: Command, page: Page): string {
  const { paint, columns } = page;
  const paragraph = (text: string): string[] => wrap(text.trim(), columns - 2).map((line) => (line === "" ? "" : `  ${line}`));
  return `${[
    ...wrap(`${paint.bold("dragoman")} ${command.usage}`, columns, "  "),
    "",
    ...paragraph(command.about),
    ...(command.help ? ["", ...command.help.split("\n").flatMap(paragraph)] : []),
    ...(command.options ? ["", paint.bold("Options"), ...optionLines(command.options, page)] : []),
    "",
    paint.bold("Every command"),
    ...optionLines(globalOptions, page),
  ].join("\n")}\n`;
}

const optionLines = (options: Record<string, OptionSpec>, page: Page): string[] =>
  entries(
    Object.entries(options).map(([name, { short, value, about }]) => [
      `${short ? `-${short}, ` : ""}--${name}${value ? ` ${value}` : ""}`,
      about,
    ]),
    page,
    28,
  );

/** Words on the left, what they mean on the right; below, where the words are too long. */
function entries(rows: [string, string][], { paint, columns }: Page, wanted: number): string[] {
  const left = Math.min(wanted, Math.floor(columns * LEFT_SHARE));
  return rows.flatMap(([words, about]) => {
    const lines = wrap(about, columns - left - 2).map((line) => paint.dim(line));
    const rest = lines.map((line) => `${" ".repeat(left + 2)}${line}`);
    if (width(words) >= left) return [...wrap(words, columns - 2, "  ").map((line) => `  ${line}`), ...rest];
    return [`  ${words.padEnd(left)}${lines[0] ?? ""}`, ...rest.slice(1)];
  });
}
