// `dragoman completion <shell>`: prints a completion script made from the table of commands. Agents and sessions are asked of the running daemon.
import { type Command, EXIT, globalOptions, need, UsageError } from "../command.ts";

type Words = { name: string; options: string[]; about: string }[];

export function completionFor(all: () => readonly Command[]): Command {
  return {
    name: "completion",
    usage: "completion bash|zsh|fish",
    about: "print a completion script for the shell",
    help: `  bash: source <(dragoman completion bash)
  zsh:  source <(dragoman completion zsh)
  fish: dragoman completion fish | source`,
    completes: [{ word: "bash" }, { word: "zsh" }, { word: "fish" }],
    async run({ words, print }) {
      const shell = need(words, 0, "the shell");
      const table: Words = all().map(({ name, options, about }) => ({
        name,
        about,
        options: Object.keys({ ...globalOptions, ...options }).map((option) => `--${option}`),
      }));
      if (shell === "bash") print(bash(table));
      else if (shell === "zsh") print(`autoload -U +X bashcompinit && bashcompinit\n${bash(table)}`);
      else if (shell === "fish") print(fish(table));
      else throw new UsageError(`there is no completion for ${shell}`);
      return EXIT.ok;
    },
  };
}

const first = (table: Words): string => [...new Set(table.map(({ name }) => name.split(" ")[0] ?? name))].join(" ");

function bash(table: Words): string {
  const cases = table.map(({ name, options }) => `    ${JSON.stringify(name)}) words="${options.join(" ")}" ;;`).join("\n");
  return `_dragoman() {
  local word="\${COMP_WORDS[COMP_CWORD]}" first="\${COMP_WORDS[1]}" second="\${COMP_WORDS[2]}" name words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${first(table)} help" -- "$word")); return
  fi
  for name in "$first" "$first $second"; do
    case "$name" in
${cases}
    esac
  done
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$word")) ;;
    *) COMPREPLY=($(compgen -W "$(dragoman __complete "$first" "$second" 2>/dev/null)" -- "$word") $(compgen -f -- "$word")) ;;
  esac
}
complete -F _dragoman dragoman`;
}

function fish(table: Words): string {
  const lines = table.flatMap(({ name, options, about }) => {
    const [word = name, second] = name.split(" ");
    const seen = `__fish_seen_subcommand_from ${word}${second ? `; and __fish_seen_subcommand_from ${second}` : ""}`;
    return [
      second
        ? `complete -c dragoman -n "__fish_seen_subcommand_from ${word}" -f -a ${second} -d ${JSON.stringify(about)}`
        : `complete -c dragoman -n __fish_use_subcommand -f -a ${word} -d ${JSON.stringify(about)}`,
      ...options.map((option) => `complete -c dragoman -n "${seen}" -l ${option.slice(2)}`),
      `complete -c dragoman -n "${seen}" -a "(dragoman __complete ${name} 2>/dev/null)"`,
    ];
  });
  const groups = [...new Set(table.flatMap(({ name }) => (name.includes(" ") ? [name.split(" ")[0] ?? ""] : [])))];
  return [...groups.map((word) => `complete -c dragoman -n __fish_use_subcommand -f -a ${word}`), ...lines].join("\n");
}

/** What may follow a command, asked by the scripts above. */
export function completeFor(all: () => readonly Command[]): Command {
  return {
    name: "__complete",
    usage: "__complete <command> [<second word>]",
    about: "words that may follow a command",
    async run({ words, daemon, print }) {
      const [first = "", second = ""] = words;
      const command = all().find(({ name }) => name === `${first} ${second}`) ?? all().find(({ name }) => name === first);
      if (command?.name !== `${first} ${second}`)
        for (const { name } of all()) if (name.startsWith(`${first} `)) print(name.slice(first.length + 1));
      for (const kind of command?.completes ?? []) {
        if (kind === "files") continue;
        if (typeof kind === "object") print(kind.word);
        else if (kind === "agents") for (const agent of await (await daemon()).agents()) print(agent.agent);
        else for (const session of (await (await daemon()).sessions({ limit: 200 })).sessions) print(session.session_id);
      }
      return EXIT.ok;
    },
  };
}
