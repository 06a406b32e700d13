// `trust`: the directories whose settings agents may load.
import { resolve } from "node:path";
import { type Command, EXIT, flag, UsageError } from "../command.ts";
import { exactLine } from "../output.ts";

export const trust: Command = {
  name: "trust",
  usage: "trust [<directory>]",
  about: "trust a directory (default: here): agents may load its settings and run its hooks, MCP servers and plugins",
  help: `  Trust covers what lies below it and the git worktrees of its repository. The home directory, / and temporary places are trusted alone.
  It counts from an agent's next start.
  Example: dragoman trust ~/work/project`,
  options: {
    list: { type: "boolean", about: "print the trusted directories instead" },
    remove: { type: "boolean", about: "trust it no longer" },
  },
  completes: ["files"],
  async run({ words, values, daemon, json, table, print, terminal }) {
    const [list, remove] = [flag(values, "list"), flag(values, "remove")];
    if (list && (remove || words.length > 0)) throw new UsageError("--list takes no directory and no --remove");
    const directory = resolve(terminal.cwd, words[0] ?? ".");
    const dragoman = await daemon();
    if (list) {
      const directories = await dragoman.trustedDirectories();
      if (flag(values, "json")) for (const each of directories) json(each);
      else if (directories.length === 0) print("No directory is trusted.");
      else {
        const rows = directories.map(({ directory, scope, source, added_at }) => [
          exactLine(directory),
          scope === "tree" ? "with all below it" : "alone",
          source === "config" ? "configuration file" : (added_at ?? ""),
        ]);
        table(["DIRECTORY", "COVERS", "SINCE"], rows);
      }
      return EXIT.ok;
    }
    if (remove) {
      await dragoman.distrustDirectory(directory);
      if (flag(values, "json")) json({ directory, trusted: false });
      else print(`${exactLine(directory)} is not trusted.`);
      return EXIT.ok;
    }
    const added = await dragoman.trustDirectory(directory);
    if (flag(values, "json")) json(added);
    else
      print(
        `${exactLine(added.directory)} is trusted${added.scope === "tree" ? " with all below it" : ", but nothing below it"}.`,
      );
    return EXIT.ok;
  },
};
