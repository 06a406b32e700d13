/**
 * Columns in which the same thing stands many times in a row, or counts up, as short texts: `item.delta*998 turn.ended` and `12-1009,,1011`. A text without
 * runs is its own list, which is how older stores wrote them.
 */

/** Words without spaces or stars. */
export class WordRuns {
  #text = "";
  #word = "";
  #count = 0;

  add(word: string): void {
    if (word === this.#word) {
      this.#count++;
      return;
    }
    this.#text = this.toString();
    this.#word = word;
    this.#count = 1;
  }

  /** True when the word would go into the run that is open. */
  continues(word: string): boolean {
    return word === this.#word;
  }

  toString(): string {
    if (this.#count === 0) return "";
    const run = this.#count === 1 ? this.#word : `${this.#word}*${this.#count}`;
    return this.#text === "" ? run : `${this.#text} ${run}`;
  }
}

export function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const run of text.split(" ")) {
    const [word, count] = runOf(run);
    for (let left = count; left > 0; left--) words.push(word);
  }
  return words;
}

/** The word of a run, and how often it stands there. */
function runOf(run: string): [word: string, count: number] {
  const star = run.indexOf("*");
  return star < 0 ? [run, 1] : [run.slice(0, star), Number(run.slice(star + 1))];
}

/** Where the wanted words are. Does not write the runs out. */
export function indexesOf(text: string, wanted: ReadonlySet<string>): number[] {
  const found: number[] = [];
  let at = 0;
  for (const run of text.split(" ")) {
    const [word, count] = runOf(run);
    if (wanted.has(word)) for (let index = at; index < at + count; index++) found.push(index);
    at += count;
  }
  return found;
}

export const lastWord = (text: string): string => runOf(text.slice(text.lastIndexOf(" ") + 1))[0];

/** Whether one of the words is wanted. Does not write the runs out. */
export function someWord(text: string, wanted: ReadonlySet<string>): boolean {
  return text.split(" ").some((run) => wanted.has(runOf(run)[0]));
}

/** Whole numbers, or nothing. */
export class NumberRuns {
  #text = "";
  #first: number | null = null;
  #last: number | null = null;
  #count = 0;

  add(value: number | null): void {
    if (value !== null && this.#last !== null && value === this.#last + 1) {
      this.#last = value;
      this.#count++;
      return;
    }
    if (this.#count > 0) this.#text = `${this.toString()},`;
    this.#first = value;
    this.#last = value;
    this.#count = 1;
  }

  toString(): string {
    const run = this.#first === null ? "" : this.#count === 1 ? `${this.#first}` : `${this.#first}-${this.#last}`;
    return this.#text + run;
  }
}

export function numbersOf(text: string): (number | null)[] {
  const numbers: (number | null)[] = [];
  for (const run of text.split(",")) {
    const [first = "", last] = run.split("-");
    if (first === "") numbers.push(null);
    else for (let value = Number(first); value <= Number(last ?? first); value++) numbers.push(value);
  }
  return numbers;
}
