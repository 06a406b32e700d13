import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seedOf } from "../../test-seed.ts";
import { NumberRuns, numbersOf, someWord, WordRuns, wordsOf } from "./run-length.ts";

const SEED = seedOf(20_261_117);

describe(`runs (seed ${SEED})`, () => {
  it("of words give back the words", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("item.delta", "turn.ended", "a"), { minLength: 1 }), (words) => {
        const runs = new WordRuns();
        for (const word of words) runs.add(word);
        expect(wordsOf(runs.toString())).toEqual(words);
        expect(someWord(runs.toString(), new Set(["a"]))).toBe(words.includes("a"));
      }),
      { seed: SEED },
    );
  });

  it("of numbers give back the numbers", () => {
    fc.assert(
      fc.property(fc.array(fc.option(fc.integer({ min: 1, max: 6 })), { minLength: 1 }), (numbers) => {
        const runs = new NumberRuns();
        for (const number of numbers) runs.add(number);
        expect(numbersOf(runs.toString())).toEqual(numbers);
      }),
      { seed: SEED },
    );
  });

  it("are short for what repeats and what counts up", () => {
    const [words, numbers] = [new WordRuns(), new NumberRuns()];
    for (let n = 1; n <= 998; n++) {
      words.add("item.delta");
      numbers.add(n);
    }
    expect([words.toString(), numbers.toString()]).toEqual(["item.delta*998", "1-998"]);
  });

  it("read the lists of the first version", () => {
    expect(wordsOf("a b b")).toEqual(["a", "b", "b"]);
    expect(numbersOf("1,,2")).toEqual([1, null, 2]);
    expect(numbersOf("")).toEqual([null]);
  });
});
