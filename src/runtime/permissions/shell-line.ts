/**
 * Reads a bash line as far as it can be judged: simple commands with their words and redirections, joined by `|`, `&&`, `||`, `;`, `&` and newlines. Everything
 * else (substitutions, control structures, functions, here documents, assignments) is opaque: a person decides. It never guesses.
 */

/** A word of a command; `literal` is null when the shell would change it (variables, globs, braces). */
export interface Word {
  readonly text: string;
  readonly literal: string | null;
}

export interface Redirect {
  readonly direction: "read" | "write";
  /** Null for a copy of a descriptor such as `2>&1`. */
  readonly target: string | null;
}

export interface SimpleCommand {
  readonly words: readonly Word[];
  readonly redirects: readonly Redirect[];
}

export type ShellLine =
  | { readonly kind: "commands"; readonly commands: readonly SimpleCommand[] }
  /** With the reason, for the person. */
  | { readonly kind: "opaque"; readonly reason: string };

class Opaque extends Error {}

const opaque = (reason: string): never => {
  throw new Opaque(reason);
};

export function readShellLine(line: string): ShellLine {
  try {
    const commands = new Parser(line).parse();
    for (const command of commands) refuseRunners(command);
    if (commands.length === 0) return { kind: "opaque", reason: "it is empty" };
    return { kind: "commands", commands };
  } catch (error) {
    if (error instanceof Opaque) return { kind: "opaque", reason: error.message };
    throw error;
  }
}

const RESERVED: ReadonlySet<string> = new Set(
  "if then else elif fi for while until do done case esac in function select coproc time { } [[ ]]".split(" "),
);
const BLANK = /[ \t]/;
const META = /[ \t\n|&;()<>]/;

class Parser {
  readonly #line: string;
  #at = 0;
  #words: Word[] = [];
  #redirects: Redirect[] = [];
  readonly #commands: SimpleCommand[] = [];

  constructor(line: string) {
    if (line.includes("\0")) opaque("it has a NUL byte");
    this.#line = line.replaceAll("\\\n", "");
  }

  parse(): readonly SimpleCommand[] {
    while (this.#at < this.#line.length) this.#step();
    this.#endCommand(false);
    return this.#commands;
  }

  #step(): void {
    const char = this.#line[this.#at] as string;
    if (BLANK.test(char)) this.#at += 1;
    else if (char === "\n") this.#separator(1, false);
    else if (char === "#") this.#skipComment();
    else if (char === ";") this.#looksAt(";;") ? opaque("it has a case") : this.#separator(1, true);
    else if (char === "|") this.#separator(this.#looksAt("||") || this.#looksAt("|&") ? 2 : 1, true);
    else if (char === "&" && this.#looksAt("&>")) this.#redirect("");
    else if (char === "&") this.#separator(this.#looksAt("&&") ? 2 : 1, true);
    else if (char === "(" || char === ")") opaque("it has a subshell or a function");
    else if (char === "<" || char === ">") this.#redirect("");
    else this.#word();
  }

  #looksAt(text: string): boolean {
    return this.#line.startsWith(text, this.#at);
  }

  #separator(length: number, needsCommand: boolean): void {
    this.#at += length;
    this.#endCommand(needsCommand);
  }

  #endCommand(needed: boolean): void {
    if (this.#words.length === 0) {
      if (this.#redirects.length > 0) opaque("it has a redirection without a command");
      if (needed) opaque("it has an operator without a command");
      return;
    }
    this.#commands.push({ words: this.#words, redirects: this.#redirects });
    this.#words = [];
    this.#redirects = [];
  }

  #skipComment(): void {
    const end = this.#line.indexOf("\n", this.#at);
    this.#at = end === -1 ? this.#line.length : end;
  }

  #word(): void {
    const word = this.#readWord();
    const next = this.#line[this.#at];
    // A number right before < or > names a descriptor.
    if ((next === "<" || next === ">") && /^\d+$/.test(word.text)) return this.#redirect(word.text);
    if (this.#words.length === 0) {
      if (RESERVED.has(word.text)) opaque(`it has the keyword ${word.text}`);
      if (word.literal === null) opaque("the name of a command is not fixed");
      if (/^[A-Za-z_][A-Za-z0-9_]*(\[[^\]]*\])?\+?=/.test(word.text)) opaque("it sets a variable");
      if (word.text === "!") return;
    }
    this.#words.push(word);
  }

  #readWord(): Word {
    const start = this.#at;
    let literal: string | null = "";
    const add = (text: string | null): void => {
      literal = literal === null || text === null ? null : literal + text;
    };
    while (this.#at < this.#line.length) {
      const char = this.#line[this.#at] as string;
      if (META.test(char)) break;
      this.#at += 1;
      if (char === "'") add(this.#single());
      else if (char === '"') add(this.#double());
      else if (char === "\\") {
        if (this.#at >= this.#line.length) opaque("it ends in a backslash");
        add(this.#line[this.#at] as string);
        this.#at += 1;
      } else if (char === "`") opaque("it has a command substitution");
      else if (char === "$") add(this.#dollar(false));
      else if ("*?[{".includes(char)) add(null);
      else add(char);
    }
    return { text: this.#line.slice(start, this.#at), literal };
  }

  #single(): string {
    const end = this.#line.indexOf("'", this.#at);
    if (end === -1) opaque("a quote is not closed");
    const text = this.#line.slice(this.#at, end);
    this.#at = end + 1;
    return text;
  }

  #double(): string | null {
    let literal: string | null = "";
    for (;;) {
      const char = this.#line[this.#at];
      if (char === undefined) return opaque("a quote is not closed");
      this.#at += 1;
      if (char === '"') return literal;
      if (char === "`") opaque("it has a command substitution");
      let text: string | null = char;
      if (char === "$") text = this.#dollar(true);
      else if (char === "\\" && /["\\$`]/.test(this.#line[this.#at] ?? "")) {
        text = this.#line[this.#at] as string;
        this.#at += 1;
      }
      literal = literal === null || text === null ? null : literal + text;
    }
  }

  /** After a dollar. A plain variable is a word nobody knows; anything that could run something is opaque. */
  #dollar(quoted: boolean): string | null {
    const rest = this.#line.slice(this.#at);
    const name = /^([A-Za-z_][A-Za-z0-9_]*|[0-9?#@*!$-]|\{[A-Za-z_][A-Za-z0-9_]*\})/.exec(rest)?.[0];
    if (name !== undefined) {
      this.#at += name.length;
      return null;
    }
    if (/^[({['"`]/.test(rest) && !(quoted && /^['"]/.test(rest))) opaque("it has a substitution");
    return "$";
  }

  #redirect(_descriptor: string): void {
    const operator = /^(&>>|&>|>>|>\||>&|<&|<>|<<<|<<|<|>)/.exec(this.#line.slice(this.#at))?.[0] ?? "";
    this.#at += operator.length;
    if (operator.startsWith("<<")) opaque("it has a here document");
    if (this.#line[this.#at] === "(") opaque("it has a process substitution");
    while (BLANK.test(this.#line[this.#at] ?? "")) this.#at += 1;
    const target = this.#readWord();
    if (target.text === "") opaque("a redirection has no target");
    if (target.literal === null) opaque("the target of a redirection is not fixed");
    const isCopy = operator.endsWith("&") && /^(\d+|-)$/.test(target.literal ?? "");
    const direction = operator.startsWith("<") && operator !== "<>" ? "read" : "write";
    this.#redirects.push({ direction, target: isCopy ? null : target.literal });
  }
}

/** Programs that run what their arguments say. What they run cannot be judged by their name. */
const RUNNERS: ReadonlySet<string> = new Set(
  "eval exec source . command builtin env sudo su doas xargs nohup setsid timeout nice ionice stdbuf watch parallel ssh chroot unshare bwrap script trap alias enable strace gdb flock".split(
    " ",
  ),
);
/** Interpreters: with such an option they run a text. */
const INTERPRETERS: readonly (readonly [RegExp, RegExp])[] = [
  [/^(ba|z|da|k|fi|c|tc)?sh$/, /^-[a-zA-Z]*c/],
  [/^python[0-9.]*$/, /^-[a-zA-Z]*c/],
  [/^(node|deno|bun)$/, /^(-[a-z]*[ep]|--eval|--print|eval|-r|--require|--import)/],
  [/^(perl|ruby|lua)[0-9.]*$/, /^-[a-zA-Z]*[eE]/],
  [/^php[0-9.]*$/, /^-[a-zA-Z]*r/],
  [/^(find|fd|fdfind)$/, /^(-exec|-execdir|-ok|-okdir|-delete|-fprint|-fls|-x$|-X$|--exec)/],
  [
    /^git$/,
    /^(-c$|-c=|--config-env|--exec-path|--upload-pack|--receive-pack|-C$|--git-dir|--work-tree|--ext-diff|--textconv|--open-files-in-pager|-O)/,
  ],
  [/^(rg|ripgrep)$/, /^(--pre|--hostname-bin|-z$|--search-zip)/],
  [/^(tar|bsdtar)$/, /^(--to-command|--checkpoint-action|-I|--use-compress-program)/],
  [/^g?sort$/, /^(-o|--output|--compress-program)/],
];

function refuseRunners({ words }: SimpleCommand): void {
  const name = baseName(words[0]?.literal ?? "");
  if (RUNNERS.has(name)) opaque(`${name} runs other commands`);
  if (/^([gmn]?awk)$/.test(name)) opaque("awk can run other commands");
  if (/^g?sed$/.test(name)) refuseSed(words);
  for (const [program, option] of INTERPRETERS) {
    if (!program.test(name)) continue;
    for (const word of words.slice(1)) {
      // An option that the shell puts together could be any option.
      if (word.literal === null && /^(\$|"?\$|[*?[{])/.test(word.text)) opaque(`an argument of ${name} is not fixed`);
      if (option.test(word.literal ?? "")) opaque(`${name} ${word.literal} runs or writes something else`);
    }
  }
}

/** sed writes files and runs commands from its script: only plain printing can be judged. */
function refuseSed(words: readonly Word[]): void {
  const args = words.slice(1).map((word) => word.literal);
  const isPrint =
    args[0] === "-n" &&
    /^[0-9$]*(,[0-9$]+)?p$/.test(args[1] ?? "") &&
    args.slice(2).every((arg) => arg !== null && !arg.startsWith("-"));
  if (!isPrint) opaque("sed can write files and run commands");
}

export const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** Words of a line that could not be read, in order: only good enough to find what is forbidden. */
export const looseWords = (line: string): string[] => line.split(/[^A-Za-z0-9_./+-]+/).filter((word) => word !== "");
