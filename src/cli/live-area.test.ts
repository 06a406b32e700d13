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
  const area = new LiveArea(readline, screen);
  readline.on("line", () => area.entered());
  readline.prompt();
  return { screen, area };
}

describe("live area", () => {
  it("keeps what is typed below what comes", () => {
    const { screen, area } = setUp();
    readline.write("half a message");
    for (const word of ["one ", "two ", "three\n", "four"]) area.write(word);
    expect(screen.lines).toEqual(["one two three", "four", "> half a message"]);
    area.write(" five\n");
    readline.write(" goes on");
    expect(screen.lines).toEqual(["one two three", "four five", "> half a message goes on"]);
  });

  it("breaks long growing lines at words, and loses none", () => {
    const { screen, area } = setUp(30);
    const words = Array.from({ length: 40 }, (_, index) => `word${index}`);
    for (const word of words) area.write(`${word} `);
    area.write("\n");
    const shown = screen.lines.filter((line) => !line.startsWith(">"));
    expect(shown.join(" ").split(/\s+/).filter(Boolean)).toEqual(words);
    expect(shown.every((line) => line.length < 30)).toBe(true);
    expect(screen.lines.at(-1)).toBe(">");
  });

  // The second ends at the very edge, where readline puts the cursor on a row of its own.
  for (const typed of [
    "a message that is longer than one row of a screen",
    "a message that is longer than one row of this small screen",
  ])
    it(`holds with a message over several rows, of ${typed.length} letters`, () => {
      const { screen, area } = setUp(30);
      readline.write(typed);
      area.write("an answer ");
      area.write("that goes on\n");
      area.write("and on");
      area.write(" and on");
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
    const { screen, area } = setUp();
    area.write("some");
    readline.write("hello\n");
    area.write("thing\n");
    expect(screen.lines).toEqual(["some", "> hello", "thing", ">"]);
  });

  it("changes the words before the cursor, and leaves the screen clean", () => {
    const { screen, area } = setUp();
    readline.write("draft");
    area.write("question?\ngrowing");
    area.setPrompt("  [y]es or [n]o: ");
    expect(screen.lines).toEqual(["question?", "growing", "  [y]es or [n]o: draft"]);
    area.leave();
    expect(screen.lines).toEqual(["question?", "growing", ""]);
  });
});
