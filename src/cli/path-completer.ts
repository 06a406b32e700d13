/** Tab at a prompt: `@path` is completed with the files of the session's directory, a slash at the beginning with commands. Everything else is left alone. */
import type { PathCompletions } from "../schema/files.ts";
import { exactLine } from "./output.ts";

type Complete = (typed: string) => Promise<PathCompletions["paths"]>;
type Answer = (error: Error | null, result: [string[], string]) => void;

const SHOWN = 30;

/** For readline. A daemon that does not answer completes nothing. */
export const pathCompleter =
  (complete: Complete, commands: () => string[] = () => []) =>
  (line: string, done: Answer): void => {
    if (/^\/\S*$/.test(line))
      return done(null, [
        commands()
          .filter((name) => name.startsWith(line))
          .map((name) => `${name} `),
        line,
      ]);
    const typed = /(?:^|\s)@([^\s@]*)$/.exec(line)?.[1];
    if (typed === undefined) return done(null, [[], line]);
    complete(typed).then(
      (paths) => done(null, [offered(paths, typed), `@${typed}`]),
      () => done(null, [[], line]),
    );
  };

/** What goes on from what was typed comes first, alone: readline writes what all of them have in common. */
function offered(paths: PathCompletions["paths"], typed: string): string[] {
  const all = paths
    .map(({ path, type }) => `@${path.replace(/\/$/, "")}${type === "directory" ? "/" : " "}`)
    .filter((word) => exactLine(word) === word)
    .slice(0, SHOWN);
  const longer = all.filter((word) => word.startsWith(`@${typed}`));
  return longer.length > 0 ? longer : all;
}
