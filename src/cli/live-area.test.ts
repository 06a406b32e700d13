import { createInterface, type Interface } from "node:readline";
import { PassThrough } from "node:stream";
import { afterEach, describe, expect, it } from "vitest";
import { LiveArea } from "./live-area.ts";
import { TestScreen } from "./test-screen.ts";

let readline: Interface;
afterEach(() => readline.close());

function setUp(columns = 40) {
  const screen = new TestScreen(columns);
  readline = createInterface({ input: new PassThrough(), output: screen, terminal: true, prompt: "> " });
  const area = new LiveArea(screen, readline);
  readline.on("line", () => area.entered());
  readline.prompt();
  const tail = (...lines: string[]): void => area.draw(() => {}, lines);
  return { screen, area, tail };
}

describe("live area", () => {
  it("keeps what is typed below what comes, and what is not finished between them", () => {
    const { screen, area, tail } = setUp();
    readline.write("half a message");
    area.write("one two three\n");
    tail("four");
    expect(screen.lines).toEqual(["one two three", "four", "> half a message"]);
    area.draw(() => screen.write("four five\n"), []);
    readline.write(" goes on");
    expect(screen.lines).toEqual(["one two three", "four five", "> half a message goes on"]);
  });

  it("draws a tail of several lines again in its place, each on one row", () => {
    const { screen, area, tail } = setUp(20);
    for (let count = 1; count <= 5; count++) tail(`line ${count}`, "a line that is longer than the screen", "· 12 s");
    area.write("done\n");
    expect(screen.lines).toEqual(["done", "line 5", "a line that is lon…", "· 12 s", ">"]);
  });

  it("shows the end of a tail that is taller than the screen", () => {
    const { screen, tail } = setUp();
    tail(...Array.from({ length: 100 }, (_, at) => `row ${at}`));
    expect(screen.lines).toHaveLength(21);
    expect(screen.lines.slice(-2)).toEqual(["row 99", ">"]);
  });

  // The second ends at the very edge, where readline puts the cursor on a row of its own.
  for (const typed of [
    "a message that is longer than one row of a screen",
    "a message that is longer than one row of this small screen",
  ])
    it(`holds with a message over several rows, of ${typed.length} letters`, () => {
      const { screen, area, tail } = setUp(30);
      readline.write(typed);
      tail("an answer");
      tail("an answer that goes on");
      area.draw(() => screen.write("an answer that goes on\n"), ["and on"]);
      tail("and on and on");
      expect(screen.lines.slice(0, 2)).toEqual(["an answer that goes on", "and on and on"]);
      const rows = screen.lines.slice(2);
      expect(
        rows
          .map((row, index) => (index < rows.length - 1 ? row.padEnd(30) : row))
          .join("")
          .trim(),
      ).toBe(`> ${typed}`);
    });

  it("goes on below a line that was entered", () => {
    const { screen, area, tail } = setUp();
    tail("some");
    readline.write("hello\n");
    area.draw(() => screen.write("something\n"), []);
    expect(screen.lines).toEqual(["some", "> hello", "something", ">"]);
  });

  it("changes the words before the cursor, and leaves the screen clean", () => {
    const { screen, area, tail } = setUp();
    readline.write("draft");
    area.write("question?\n");
    tail("working");
    area.setPrompt("  [y]es or [n]o: ");
    expect(screen.lines).toEqual(["question?", "working", "  [y]es or [n]o: draft"]);
    area.leave();
    expect(screen.lines).toEqual(["question?", ""]);
  });

  it("works without a prompt", () => {
    const { screen } = setUp();
    const bare = new LiveArea(screen);
    bare.draw(() => {}, ["⠋ working"]);
    bare.write("done\n");
    expect(screen.lines.slice(-2)).toEqual(["⠋ working", ""]);
    bare.leave();
    expect(screen.lines.at(-1)).toBe("");
  });
});
