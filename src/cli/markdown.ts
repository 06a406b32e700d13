/**
 * Markdown of an agent as a terminal shows it: wrapped, with headings, lists, tables and code distinguished. Not here: what must not reach a terminal
 * (output.ts), when it is printed (event-printer.ts). Loaded only where somebody looks at a terminal.
 */
import { Lexer, type Token, type Tokens } from "marked";
import { exactLine } from "./output.ts";
import { diffLine, type Paint, table } from "./style.ts";
import { wrap } from "./text-layout.ts";
import type { TextStream } from "./text-stream.ts";

type Style = { paint: Paint; columns: number };

export function renderMarkdown(text: string, style: Style): string {
  return blocks(new Lexer({ gfm: true }).lex(text), style).join("\n\n");
}

/** Text that streams in: blocks are ready when the next one has begun. */
export class MarkdownStream implements TextStream {
  readonly #style: () => Style;
  #text = "";
  #first = true;

  constructor(style: () => Style) {
    this.#style = style;
  }

  push(delta: string): string {
    this.#text += delta;
    if (!delta.includes("\n")) return "";
    const tokens = new Lexer({ gfm: true }).lex(this.#text);
    const last = tokens.findLastIndex(({ type }) => type !== "space");
    const ready = tokens.slice(0, isClosed(tokens[last]) ? last + 1 : last);
    this.#text = this.#text.slice(ready.reduce((length, { raw }) => length + raw.length, 0));
    return this.#spaced(blocks(ready, this.#style()));
  }

  get tail(): string {
    return this.#text.trim() === "" ? "" : renderMarkdown(this.#text, this.#style());
  }

  end(): string {
    const rest = this.tail;
    this.#text = "";
    return this.#spaced(rest === "" ? [] : [rest]);
  }

  #spaced(ready: string[]): string {
    return ready
      .map((block) => {
        const before = this.#first ? "" : "\n";
        this.#first = false;
        return `${before}${block}\n`;
      })
      .join("");
  }
}

/** Nothing that comes can belong to it any more. */
function isClosed(token: Token | undefined): boolean {
  if (token?.type === "heading" || token?.type === "hr") return token.raw.endsWith("\n");
  return token?.type === "code" && /^ {0,3}(`{3,}|~{3,})/.test(token.raw) && /\n {0,3}(`{3,}|~{3,})\s*$/.test(token.raw);
}

const blocks = (tokens: Token[], style: Style): string[] =>
  tokens.map((token) => block(token, style)).filter((text) => text !== "");

function block(token: Token, style: Style): string {
  const { paint, columns } = style;
  switch (token.type) {
    case "space":
    case "def":
      return "";
    case "heading": {
      const text = wrap(inline(token.tokens, paint), columns).join("\n");
      return token.depth === 1 ? paint.bold(paint.underline(text)) : paint.bold(text);
    }
    case "code":
      return codeLines(token.text, token.lang, paint);
    case "hr":
      return paint.dim("─".repeat(Math.min(columns, 40)));
    case "blockquote":
      return blocks(token.tokens ?? [], { paint, columns: columns - 2 })
        .join("\n\n")
        .split("\n")
        .map((line) => `${paint.dim("│")} ${line}`)
        .join("\n");
    case "list":
      return isList(token) ? listLines(token, style) : "";
    case "table":
      return isTable(token) ? tableLines(token, style) : "";
    default:
      return wrap(inside(token) ? inline(inside(token), paint) : token.raw.trimEnd(), columns).join("\n");
  }
}

const inside = (token: Token): Token[] | undefined => ("tokens" in token ? token.tokens : undefined);
const isList = (token: Token): token is Tokens.List => token.type === "list";
const isTable = (token: Token): token is Tokens.Table => token.type === "table";

function codeLines(code: string, language: string | undefined, paint: Paint): string {
  const dress = language === "diff" ? (line: string) => diffLine(line, paint) : paint.cyan;
  return code
    .split("\n")
    .map((line) => (line === "" ? "" : `    ${dress(line)}`))
    .join("\n");
}

function listLines(list: Tokens.List, { paint, columns }: Style): string {
  const start = typeof list.start === "number" ? list.start : 1;
  const items = list.items.map((item, at) => {
    const bullet = list.ordered ? `${start + at}. ` : "• ";
    const box = item.task ? `${item.checked ? "✔" : "☐"} ` : "";
    const hang = " ".repeat(bullet.length);
    const inside = blocks(
      item.tokens.filter(({ type }) => type !== "checkbox"),
      { paint, columns: columns - bullet.length - box.length },
    );
    const lines = inside.join(list.loose ? "\n\n" : "\n").split("\n");
    return lines.map((line, row) => (row === 0 ? bullet + box + line : line === "" ? "" : hang + line)).join("\n");
  });
  return items.join(list.loose ? "\n\n" : "\n");
}

function tableLines({ header, rows }: Tokens.Table, { paint, columns }: Style): string {
  const cells = rows.map((row) => row.map(({ tokens }) => inline(tokens, paint)));
  return table(
    header.map(({ tokens }) => inline(tokens, paint)),
    cells,
    paint,
    { columns },
  );
}

function inline(tokens: Token[] | undefined, paint: Paint): string {
  return (tokens ?? []).map((token) => span(token, paint)).join("");
}

function span(token: Token, paint: Paint): string {
  const text = (): string => inline(inside(token), paint);
  switch (token.type) {
    case "strong":
      return paint.bold(text());
    case "em":
      return paint.italic(text());
    case "codespan":
      return paint.cyan(token.text);
    case "br":
      return "\n";
    case "link":
      return link(text(), token.href, paint);
    case "image":
      return link(`[${token.text}]`, token.href, paint);
    case "escape":
      return token.text;
    case "text":
      // A soft line break is a space.
      return inside(token) ? text() : token.raw.replaceAll("\n", " ");
    default:
      return token.raw;
  }
}

/** The address is always shown: what a link says and where it leads are two things. */
function link(text: string, href: string, paint: Paint): string {
  const address = exactLine(href);
  return text === href ? paint.underline(address) : `${text} ${paint.dim(`(${address})`)}`;
}
