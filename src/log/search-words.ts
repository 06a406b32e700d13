/** What a person typed into a search box, as words and phrases. Any text is a valid query. */

/** Words that must follow each other; `prefix`: the last of them may go on. */
export type Phrase = { words: string[]; prefix: boolean };

/** Letters and digits make a word; accents and case do not matter. */
const WORD = /[\p{L}\p{N}\p{M}\p{Co}]+/gu;

export const fold = (text: string): string =>
  text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase();

export const wordsIn = (text: string): string[] => text.match(WORD) ?? [];

export function phrasesOf(query: string): Phrase[] {
  const phrases: Phrase[] = [];
  const parts = [...query.matchAll(/"([^"]*)("?)|[^\s"]+/g)];
  for (const [index, part] of parts.entries()) {
    const quoted = part[1] !== undefined;
    const words = wordsIn(part[1] ?? part[0]);
    // What is still being typed: the end of the query, with nothing behind it.
    const open = index === parts.length - 1 && !/\s$/.test(query) && (!quoted || part[2] === "");
    if (words.length > 0) phrases.push({ words, prefix: open });
  }
  return phrases;
}

/** True when these folded words hold the phrase. */
export function holds(words: readonly string[], phrase: Phrase): boolean {
  const wanted = phrase.words.map(fold);
  return words.some((_, at) =>
    wanted.every((word, index) => {
      const found = words[at + index];
      return phrase.prefix && index === wanted.length - 1 ? found?.startsWith(word) === true : found === word;
    }),
  );
}

/** True when a text holds all that is looked for. */
export function holdsQuery(text: string, query: string): boolean {
  const words = wordsIn(text).map(fold);
  return phrasesOf(query).every((phrase) => holds(words, phrase));
}
