// The page's side of syntax colours: a worker makes them, started when the first code block is seen; what was coloured once is kept.
import type { ColouredLine, HighlightReply, HighlightRequest, Language } from "./highlight-worker.ts";

export type { ColouredLine } from "./highlight-worker.ts";
export type Theme = HighlightRequest["theme"];

const known: ReadonlySet<string> = new Set([
  "typescript",
  "tsx",
  "javascript",
  "json",
  "bash",
  "python",
  "rust",
  "go",
  "css",
  "html",
  "yaml",
  "toml",
  "sql",
  "java",
  "c",
  "diff",
  "markdown",
] satisfies Language[]);
const aliases: Record<string, string> = {
  ts: "typescript",
  js: "javascript",
  mjs: "javascript",
  jsx: "tsx",
  sh: "bash",
  shell: "bash",
  zsh: "bash",
  console: "bash",
  py: "python",
  rs: "rust",
  golang: "go",
  yml: "yaml",
  jsonc: "json",
  htm: "html",
  md: "markdown",
  patch: "diff",
  "c++": "c",
  cpp: "c",
};

const MOST_KEPT = 300;
const kept = new Map<string, ColouredLine[]>();
const waiting = new Map<number, (lines: ColouredLine[] | null) => void>();
let worker: Worker | undefined;
let asked = 0;

function start(): Worker {
  const started = new Worker(new URL("./highlight-worker.ts", import.meta.url), { type: "module" });
  started.addEventListener("message", ({ data }: MessageEvent<HighlightReply>) => {
    waiting.get(data.id)?.(data.lines);
    waiting.delete(data.id);
  });
  return started;
}

const languageOf = (name: string): Language | undefined => {
  const language = aliases[name] ?? name;
  return known.has(language) ? (language as Language) : undefined;
};
const keyOf = (code: string, language: string, theme: Theme): string => `${theme} ${language} ${code}`;

export const isHighlightable = (language: string): boolean => languageOf(language) !== undefined;

/** At once, if this code was coloured before. */
export const highlighted = (code: string, language: string, theme: Theme): ColouredLine[] | undefined =>
  kept.get(keyOf(code, language, theme));

export async function highlight(code: string, name: string, theme: Theme): Promise<ColouredLine[] | null> {
  const language = languageOf(name);
  if (!language) return null;
  worker ??= start();
  const id = ++asked;
  const reply = new Promise<ColouredLine[] | null>((resolve) => waiting.set(id, resolve));
  worker.postMessage({ id, code, language, theme } satisfies HighlightRequest);
  const lines = await reply;
  if (lines) keep(keyOf(code, name, theme), lines);
  return lines;
}

function keep(key: string, lines: ColouredLine[]): void {
  kept.set(key, lines);
  const oldest = kept.keys().next();
  if (kept.size > MOST_KEPT && !oldest.done) kept.delete(oldest.value);
}
