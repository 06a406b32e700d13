/**
 * Colours for the code of the docs, as classes: the pages' policy takes no inline styles, and classes follow the reader's theme. Languages that are not listed stay
 * plain.
 */
import { createCssVariablesTheme, createHighlighter } from "shiki";

const LANGUAGES = { sh: "shellscript", ts: "typescript", tsx: "tsx", json: "json", python: "python", yaml: "yaml", diff: "diff" };
const PREFIX = "var(--tk-";

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

export async function highlighter() {
  const theme = createCssVariablesTheme({ name: "classes", variablePrefix: "--tk-", fontStyle: false });
  const shiki = await createHighlighter({ themes: [theme], langs: [...new Set(Object.values(LANGUAGES))] });
  const word = ({ content, color = "" }) => {
    const name = color.startsWith(`${PREFIX}token-`) ? color.slice(`${PREFIX}token-`.length, -1) : null;
    return name === null ? escaped(content) : `<span class="tk-${name}">${escaped(content)}</span>`;
  };
  return (code, language) => {
    const lang = LANGUAGES[language];
    if (lang === undefined) return escaped(code);
    const { tokens } = shiki.codeToTokens(code, { lang, theme: "classes" });
    return tokens.map((line) => line.map(word).join("")).join("\n");
  };
}
