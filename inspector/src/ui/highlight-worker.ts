// Syntax colours, made beside the page: a grammar takes hundreds of milliseconds to compile, which nobody should see as a stop while scrolling.
// The regular expression engine is JavaScript's own: the page's policy allows neither wasm nor eval.
import type { HighlighterCore, LanguageInput } from "shiki/core";

export type Language = keyof typeof languages;
export type HighlightRequest = { id: number; code: string; language: Language; theme: "light" | "dark" };
/** A line is a list of stretches: text and colour. */
export type ColouredLine = [text: string, colour: string][];
export type HighlightReply = { id: number; lines: ColouredLine[] | null };

const languages = {
  typescript: () => import("shiki/langs/typescript.mjs"),
  tsx: () => import("shiki/langs/tsx.mjs"),
  javascript: () => import("shiki/langs/javascript.mjs"),
  json: () => import("shiki/langs/json.mjs"),
  bash: () => import("shiki/langs/bash.mjs"),
  python: () => import("shiki/langs/python.mjs"),
  rust: () => import("shiki/langs/rust.mjs"),
  go: () => import("shiki/langs/go.mjs"),
  css: () => import("shiki/langs/css.mjs"),
  html: () => import("shiki/langs/html.mjs"),
  yaml: () => import("shiki/langs/yaml.mjs"),
  toml: () => import("shiki/langs/toml.mjs"),
  sql: () => import("shiki/langs/sql.mjs"),
  java: () => import("shiki/langs/java.mjs"),
  c: () => import("shiki/langs/c.mjs"),
  diff: () => import("shiki/langs/diff.mjs"),
  markdown: () => import("shiki/langs/markdown.mjs"),
} satisfies Record<string, () => Promise<{ default: LanguageInput }>>;

/** A longer line is no code that somebody reads: it stays plain. */
const LONGEST_LINE = 5_000;

let loading: Promise<HighlighterCore> | undefined;

async function load(): Promise<HighlighterCore> {
  const [{ createHighlighterCore }, { createJavaScriptRegexEngine }, light, dark] = await Promise.all([
    import("shiki/core"),
    import("shiki/engine/javascript"),
    import("shiki/themes/github-light-default.mjs"),
    import("shiki/themes/github-dark-default.mjs"),
  ]);
  return createHighlighterCore({
    themes: [light.default, dark.default],
    langs: [],
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  });
}

async function highlight({ code, language, theme }: HighlightRequest): Promise<ColouredLine[]> {
  loading ??= load();
  const highlighter = await loading;
  if (!highlighter.getLoadedLanguages().includes(language)) await highlighter.loadLanguage((await languages[language]()).default);
  // Without a limit of time: a line is given up where the limit strikes and keeps its last colour to the end, and the grammar is compiled within the first line.
  const limits = { tokenizeTimeLimit: 0, tokenizeMaxLineLength: LONGEST_LINE };
  const { tokens } = highlighter.codeToTokens(code, { lang: language, theme: `github-${theme}-default`, ...limits });
  return tokens.map((line) => line.map(({ content, color = "inherit" }) => [content, color]));
}

addEventListener("message", ({ data }: MessageEvent<HighlightRequest>) => {
  const reply = (lines: ColouredLine[] | null): void => self.postMessage({ id: data.id, lines } satisfies HighlightReply);
  highlight(data).then(reply, () => reply(null));
});
