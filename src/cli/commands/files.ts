// `files …`: the files of a session's directory, also when the daemon runs on another machine.
import { readFileSync } from "node:fs";
import type { SessionFiles } from "../../client/session-files.ts";
import { type Command, done, EXIT, flag, type Invocation, need, text, UsageError } from "../command.ts";
import { exactLine } from "../output.ts";
import { ago } from "../style.ts";

const filesOf = async ({ words, daemon }: Invocation): Promise<SessionFiles> =>
  (await daemon()).session(need(words, 0, "the session")).files;

export const filesList: Command = {
  name: "files ls",
  usage: "files ls <session> [path]",
  about: "list a directory of the session, or say what a file is",
  completes: ["sessions"],
  async run(call) {
    const { words, values, json, table } = call;
    const files = await filesOf(call);
    const [, path = ""] = words;
    const entry = await files.stat(path);
    const found = entry.type === "directory" ? [] : [entry];
    for (let after: string | undefined; entry.type === "directory"; ) {
      const page = await files.list(path, after === undefined ? {} : { after });
      found.push(...page.entries);
      if (page.next === null) break;
      after = page.next;
    }
    if (flag(values, "json")) for (const each of found) json(each);
    else {
      const rows = found.map(({ mode, size, modified_at, type, name, target }) => [
        mode,
        type,
        String(size),
        ago(modified_at),
        exactLine(target === undefined ? name : `${name} -> ${target}`),
      ]);
      table(["MODE", "TYPE", "BYTES", "AGE", "NAME"], rows);
    }
    return EXIT.ok;
  },
};

export const filesRead: Command = {
  name: "files cat",
  usage: "files cat <session> <path>",
  about: "print a file",
  completes: ["sessions"],
  async run(call) {
    const response = await (await filesOf(call)).read(need(call.words, 1, "the path"));
    const { stdout } = call.terminal;
    for await (const chunk of response.body ?? []) {
      await new Promise<void>((resolve) => stdout.writeBytes(Buffer.from(chunk), resolve));
      await stdout.drained();
    }
    return EXIT.ok;
  },
};

export const filesWrite: Command = {
  name: "files write",
  usage: "files write <session> <path> --from <file>",
  about: "write a file; readers never see a part of it",
  options: {
    from: { type: "string", value: "<file>", about: "a file here whose content it gets; - is stdin" },
    new: { type: "boolean", about: "only when there is none yet" },
    "if-match": { type: "string", value: "<etag>", about: "only when it still has this etag" },
    parents: { type: "boolean", about: "make missing directories" },
  },
  completes: ["sessions"],
  async run(call) {
    const { words, values, terminal } = call;
    const from = text(values, "from");
    if (from === undefined) throw new UsageError("--from <file> is missing; - is stdin");
    const if_match = text(values, "if-match");
    const content = from === "-" ? await all(terminal.stdin) : readFileSync(from);
    const entry = await (await filesOf(call)).write(need(words, 1, "the path"), {
      base64: content.toString("base64"),
      create_only: flag(values, "new"),
      parents: flag(values, "parents"),
      ...(if_match === undefined ? {} : { if_match }),
    });
    return done(call, entry);
  },
};

async function all(stdin: NodeJS.ReadableStream): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const chunk of stdin) parts.push(Buffer.from(chunk));
  return Buffer.concat(parts);
}

export const filesMkdir: Command = {
  name: "files mkdir",
  usage: "files mkdir <session> <path>",
  about: "make a directory and those above it",
  completes: ["sessions"],
  async run(call) {
    return done(call, await (await filesOf(call)).mkdir(need(call.words, 1, "the path"), { parents: true }));
  },
};

export const filesMove: Command = {
  name: "files mv",
  usage: "files mv <session> <from> <to>",
  about: "move a file or a directory",
  options: { overwrite: { type: "boolean", about: "also over another one" } },
  completes: ["sessions"],
  async run(call) {
    const [from, to] = [need(call.words, 1, "the path"), need(call.words, 2, "the new path")];
    return done(call, await (await filesOf(call)).move(from, to, { overwrite: flag(call.values, "overwrite") }));
  },
};

export const filesRemove: Command = {
  name: "files rm",
  usage: "files rm <session> <path>",
  about: "delete a file, a link or a directory",
  options: { recursive: { type: "boolean", short: "r", about: "a directory with all that is in it" } },
  completes: ["sessions"],
  async run(call) {
    const path = need(call.words, 1, "the path");
    await (await filesOf(call)).delete(path, { recursive: flag(call.values, "recursive") });
    return done(call, { deleted: path });
  },
};

export const filesSearch: Command = {
  name: "files search",
  usage: "files search <session> <text>",
  about: "find text in files that git does not ignore",
  options: {
    regex: { type: "boolean", about: "a POSIX extended regular expression" },
    "ignore-case": { type: "boolean", short: "i", about: "whatever its case" },
    glob: { type: "string", value: "<glob>", about: "only files like this, such as *.ts" },
  },
  completes: ["sessions"],
  async run(call) {
    const { words, values, json, print, say } = call;
    const glob = text(values, "glob");
    const { matches, truncated } = await (await filesOf(call)).search(need(words, 1, "the text"), {
      regex: flag(values, "regex"),
      ignore_case: flag(values, "ignore-case"),
      ...(glob === undefined ? {} : { glob }),
    });
    for (const match of matches)
      if (flag(values, "json")) json(match);
      else print(exactLine(`${match.path}:${match.line}: ${match.text}`));
    if (truncated) say("There is more.");
    return matches.length > 0 ? EXIT.ok : EXIT.failed;
  },
};

export const filesWatch: Command = {
  name: "files watch",
  usage: "files watch <session>",
  about: "watch which files change, until Ctrl-C",
  completes: ["sessions"],
  async run(call) {
    const { values, json, print, terminal } = call;
    for await (const changes of (await filesOf(call)).watch(terminal.signal)) {
      if (flag(values, "json")) json(changes);
      else for (const path of changes.paths) print(exactLine(path));
    }
    return EXIT.ok;
  },
};

export const filesStatus: Command = {
  name: "files status",
  usage: "files status <session>",
  about: "git status of the session's directory",
  completes: ["sessions"],
  async run(call) {
    const { values, json, print } = call;
    const status = await (await filesOf(call)).gitStatus();
    if (flag(values, "json")) json(status);
    else {
      print(`on ${exactLine(status.branch ?? "no branch")}`);
      for (const { index, worktree, path } of status.entries) print(`${index}${worktree} ${exactLine(path)}`);
    }
    return EXIT.ok;
  },
};

export const filesDiff: Command = {
  name: "files diff",
  usage: "files diff <session> [path]",
  about: "what changed in tracked files, as git shows it",
  options: {
    staged: { type: "boolean", about: "what is staged" },
    base: { type: "string", value: "<commit>", about: "everything against this commit" },
  },
  completes: ["sessions"],
  async run(call) {
    const { words, values, json, terminal } = call;
    const base = text(values, "base");
    const [, path] = words;
    const diff = await (await filesOf(call)).gitDiff({
      staged: flag(values, "staged"),
      ...(base === undefined ? {} : { base }),
      ...(path === undefined ? {} : { path }),
    });
    if (flag(values, "json")) json(diff);
    else terminal.stdout.write(diff.diff);
    return EXIT.ok;
  },
};
