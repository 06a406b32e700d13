// Syntax colours, loaded when the first code block is seen. The regular expression engine is JavaScript's own: the page's policy allows neither wasm nor eval.
import type { HighlighterCore, LanguageInput, ThemedToken } from "shiki/core";

const languages: Record<string, () => Promise<{ default: LanguageInput }>> = {
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
};
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

export const isHighlightable = (language: string): boolean => (aliases[language] ?? language) in languages;

export async function highlight(code: string, language: string, theme: "light" | "dark"): Promise<ThemedToken[][] | null> {
  const lang = aliases[language] ?? language;
  const grammar = languages[lang];
  if (!grammar) return null;
  loading ??= load();
  const highlighter = await loading;
  if (!highlighter.getLoadedLanguages().includes(lang)) await highlighter.loadLanguage((await grammar()).default);
  return highlighter.codeToTokens(code, { lang, theme: `github-${theme}-default` }).tokens;
}
