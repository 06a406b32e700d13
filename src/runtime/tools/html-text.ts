/** The text of a web page with its headings, links, lists and code, as Markdown. It does not try to look like the page. */

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  ndash: "–",
  mdash: "—",
  hellip: "…",
  copy: "©",
};

/** Elements whose content nobody reads. */
const HIDDEN = /<(script|style|noscript|template|svg|head|title|iframe|nav|footer)\b[^>]*>[\s\S]*?<\/\1\s*>/gi;

/** Stands where a block of code was taken out. */
const MARK = "\ue000";

export function htmlToText(html: string): string {
  const title = /<title[^>]*>([\s\S]*?)<\/title>/i.exec(html)?.[1];
  const code: string[] = [];
  const body = html
    .replaceAll(/<!--[\s\S]*?-->/g, "")
    .replaceAll(HIDDEN, "")
    .replaceAll(/<pre\b[^>]*>([\s\S]*?)<\/pre\s*>/gi, (_, inner: string) => {
      code.push(entities(inner.replaceAll(/<[^>]*>/g, "")));
      return `<p>${MARK}${code.length - 1}${MARK}</p>`;
    })
    .replaceAll(/\s+/g, " ")
    .replaceAll(/<h([1-6])\b[^>]*>/gi, (_, level: string) => `\n\n${"#".repeat(Number(level))} `)
    .replaceAll(/<li\b[^>]*>/gi, "\n- ")
    .replaceAll(/<code\b[^>]*>([\s\S]*?)<\/code\s*>/gi, "`$1`")
    .replaceAll(/<a\b[^>]*?href\s*=\s*["']([^"'#][^"']*)["'][^>]*>([\s\S]*?)<\/a\s*>/gi, link)
    .replaceAll(/<(br|hr)\b[^>]*>/gi, "\n")
    .replaceAll(/<\/?(p|div|section|article|main|header|table|tr|ul|ol|dl|dt|dd|blockquote|h[1-6])\b[^>]*>/gi, "\n\n")
    .replaceAll(/<\/(td|th)\s*>/gi, " | ")
    .replaceAll(/<[^>]*>/g, "");
  const text = entities(body)
    .replaceAll(/[^\S\n]+/g, " ")
    .replaceAll(/ ?\n ?/g, "\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .replaceAll(/\ue000(\d+)\ue000/g, (_, at: string) => `\`\`\`\n${(code[Number(at)] ?? "").replace(/^\n|\n$/g, "")}\n\`\`\``)
    .trim();
  const heading = title === undefined ? "" : entities(title.replaceAll(/\s+/g, " ")).trim();
  return heading === "" || text.startsWith(`# ${heading}`) ? text : `# ${heading}\n\n${text}`;
}

function link(_: string, href: string, inner: string): string {
  const text = inner.replaceAll(/<[^>]*>/g, "").trim();
  return text === "" || /^javascript:/i.test(href) ? text : `[${text}](${href})`;
}

const entities = (text: string): string =>
  text.replaceAll(/&(#x[0-9a-f]+|#\d+|\w+);/gi, (whole, name: string) => {
    if (!name.startsWith("#")) return ENTITIES[name.toLowerCase()] ?? whole;
    const code = name[1]?.toLowerCase() === "x" ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
