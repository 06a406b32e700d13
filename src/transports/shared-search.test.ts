import { expect, it } from "vitest";
import { SharedSearch } from "./shared-search.ts";

/** A search that ends when the test says so. */
function lab() {
  const searches: { wanted: string[]; end(): void }[] = [];
  const search = new SharedSearch<string>(
    (wanted) =>
      new Promise((resolve) => {
        const keys = [...wanted];
        const round = searches.length;
        searches.push({ wanted: keys, end: () => resolve(new Map(keys.map((key) => [key, `${key} in ${round}`]))) });
      }),
  );
  return { search, searches };
}

it("serves all who ask while one runs with the next one, and no one with a search that began before they asked", async () => {
  const { search, searches } = lab();
  const first = search.get("a");
  await Promise.resolve();
  const more = ["b", "c", "a"].map((key) => search.get(key));
  await Promise.resolve();
  expect(searches.map(({ wanted }) => wanted)).toEqual([["a"]]);
  searches[0]?.end();
  expect(await first).toBe("a in 0");
  await Promise.resolve();
  expect(searches.map(({ wanted }) => wanted)).toEqual([["a"], ["b", "c", "a"]]);
  searches[1]?.end();
  expect(await Promise.all(more)).toEqual(["b in 1", "c in 1", "a in 1"]);
});

it("goes on after a search that failed", async () => {
  let fails = true;
  const search = new SharedSearch<string>(async (wanted) => {
    if (fails) throw new Error("no luck");
    return new Map([...wanted].map((key) => [key, key]));
  });
  const [first, second] = [search.get("a"), search.get("b")];
  await expect(first).rejects.toThrow("no luck");
  await expect(second).rejects.toThrow("no luck");
  fails = false;
  expect(await search.get("c")).toBe("c");
});
