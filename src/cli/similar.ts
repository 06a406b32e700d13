/** Which known word a person probably meant. */

/** Words of other tools for what is here under another name. */
const ALIASES: Readonly<Record<string, string>> = {
  list: "ls",
  ps: "ls",
  sessions: "ls",
  delete: "rm",
  remove: "rm",
  kill: "stop",
  end: "stop",
  cancel: "interrupt",
  log: "logs",
  history: "logs",
  new: "create",
  up: "start",
  down: "stop",
  ui: "open",
  web: "open",
  exec: "run",
  prompt: "run",
  chat: "attach",
  approve: "allow",
  reject: "deny",
  inspect: "show",
  find: "search",
};

/** Undefined when nothing is near. */
export function similar(word: string, known: readonly string[]): string | undefined {
  const alias = Object.hasOwn(ALIASES, word) ? ALIASES[word] : undefined;
  if (alias !== undefined && known.includes(alias)) return alias;
  const near = known
    .map((each) => ({ each, steps: distance(word, each) }))
    .filter(({ each, steps }) => steps <= Math.max(1, Math.floor(each.length / 3)))
    .sort((a, b) => a.steps - b.steps);
  return near[0]?.each;
}

/** Letters to add, remove, change or swap with their neighbour to get from one to the other. */
function distance(from: string, to: string): number {
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const change = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swap = swapped ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      next.push(Math.min(change, swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    [before, row] = [row, next];
  }
  return row[to.length] ?? 0;
}
