// What the search of the docs looks through: one entry a section, as plain text.
import { slug, titleOf, urlOf } from "./page.mjs";

const LONGEST = 4_000;

/** `[page, heading, address, text]` each. */
export function searchEntries(pages) {
  return [...pages].flatMap(([name, text]) => {
    const page = titleOf(text);
    return sections(text).map(({ heading, body }) => [
      page,
      heading,
      `${urlOf(name)}${heading === page ? "" : `#${slug(heading)}`}`,
      plain(body).slice(0, LONGEST),
    ]);
  });
}

function sections(text) {
  const found = [];
  let fenced = false;
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) fenced = !fenced;
    const heading = fenced ? null : /^#{1,4} (.+)$/.exec(line);
    if (heading) found.push({ heading: heading[1].replaceAll("`", ""), body: "" });
    else if (found.length > 0) found.at(-1).body += `${line}\n`;
  }
  return found;
}

const plain = (text) =>
  text
    .replace(/```\w*/g, "")
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[`*|]|<!--.*?-->/gs, " ")
    .replace(/-{3,}/g, " ")
    .replace(/\s+/g, " ")
    .trim();
