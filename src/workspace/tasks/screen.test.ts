import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import serialize from "@xterm/addon-serialize";
import headless from "@xterm/headless";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { TaskEvent } from "../../schema/task.ts";
import { OutputStore } from "./output-store.ts";
import { type Screen, TaskScreen } from "./screen.ts";
import { syncPoint } from "./sync-point.ts";
import { openTasks, type TestTasks } from "./test-tasks.ts";
import { unfinishedSequence } from "./unfinished-sequence.ts";
import { characterStart } from "./utf8-chunks.ts";

const { SerializeAddon } = serialize;
const { Terminal } = headless;
type Terminal = InstanceType<typeof Terminal>;

let world: TestTasks;
beforeEach(() => {
  world = openTasks();
});
afterEach(() => world.close());

/** A terminal somebody looks at, fed from the events of a task. */
class Viewer {
  readonly #terminal: Terminal;
  readonly #addon = new SerializeAddon();
  #at = 0;

  constructor({ rows, cols }: { rows: number; cols: number }) {
    this.#terminal = new Terminal({ rows, cols, scrollback: 1_000, allowProposedApi: true });
    this.#terminal.loadAddon(this.#addon);
  }

  /** Every cell as it looks, and the cursor. A cell that was never written looks like a space, which `serialize` distinguishes. */
  looks(): unknown {
    const { active } = this.#terminal.buffer;
    const lines = Array.from({ length: active.length }, (_, y) => {
      const line = active.getLine(y);
      return Array.from({ length: this.#terminal.cols }, (_, x) => {
        const cell = line?.getCell(x);
        const text = cell?.getChars() || " ";
        const colours = [cell?.getFgColorMode(), cell?.getFgColor(), cell?.getBgColorMode(), cell?.getBgColor()];
        const blank = text === " " && !cell?.isInverse() && !cell?.isUnderline();
        return blank
          ? `  ${colours.slice(2)}`
          : `${text} ${colours} ${cell?.isBold()} ${cell?.isInverse()} ${cell?.isUnderline()}`;
      }).join("|");
    });
    return { type: active.type, cursor: [active.cursorX, active.baseY + active.cursorY], lines };
  }

  /** Starts with a screen, as one who joins late does. */
  async join({ serialized, offset }: Screen): Promise<void> {
    await this.show(Buffer.from(serialized));
    this.#at = offset;
  }

  get drawn(): string {
    return this.#addon.serialize({ scrollback: 1_000 });
  }

  async follow(events: readonly TaskEvent[]): Promise<void> {
    for (const event of events) {
      if (event.type === "task.resized" && this.#at > 0) this.#terminal.resize(event.data.cols, event.data.rows);
      if (event.type !== "task.output" || (event.data.offset ?? 0) < this.#at) continue;
      await this.show(Buffer.from(event.data.chunk));
      this.#at = (event.data.offset ?? 0) + (event.data.bytes ?? 0);
    }
  }

  show = (bytes: Buffer): Promise<void> => new Promise((resolve) => this.#terminal.write(bytes, resolve));
}

/** The serialized screens are equal, or at least no cell looks different. */
function expectSame(one: Viewer, other: Viewer, where = ""): void {
  if (one.drawn !== other.drawn) expect(one.looks(), where).toEqual(other.looks());
}

const has = (program: string): boolean => spawnSync("which", [program]).status === 0;
const SIZE = { rows: 24, cols: 80 };
const LINES = Array.from({ length: 400 }, (_, i) => `line ${i} é€😀 ${"-".repeat(i % 70)}`).join("\n");

/** A program, what is typed before somebody joins and after, and what shows that each was done. */
const PROGRAMS: Record<string, { argv: string[]; before: [string, RegExp][]; after: [string, RegExp][]; leave: string }> = {
  vim: {
    argv: ["vim", "-N", "-u", "NONE", "-i", "NONE", "--cmd", "set number ruler laststatus=2 t_RV= t_u7=", "file.txt"],
    before: [
      ["", /line 20/],
      ["\u0006\u0006", /line 50/],
      [":syntax on\r:split\r:set hlsearch\r/99\rihello \u001b", /hello/],
    ],
    after: [["\u0004\u0004gg", /1,1/]],
    leave: ":qa!\r",
  },
  less: {
    argv: ["less", "-N", "file.txt"],
    before: [
      ["", /line 20/],
      ["77G", /line 90/],
    ],
    after: [["G", /line 399/]],
    leave: "q",
  },
  top: { argv: ["top", "-d", "0.2"], before: [["", /PID/]], after: [["1", /Cpu0/]], leave: "q" },
  bash: {
    argv: ["bash", "--norc", "-i"],
    before: [["cat file.txt; printf '\\033[1;31mred\\033[0m\\n'\n", /\[1;31mred/]],
    after: [["ls --color=always -la /; echo al''most\n", /almost/]],
    leave: "exit\n",
  },
};

describe.each(Object.entries(PROGRAMS))("the screen of %s", (name, { argv, before, after, leave }) => {
  it.runIf(has(name))("for one who joins late is the live one, then and later", async () => {
    writeFileSync(join(world.place.root ?? "", "file.txt"), LINES);
    const { task_id } = await world.start({ argv, execution_mode: "pty", ...SIZE });
    const type = async (steps: [string, RegExp][]): Promise<void> => {
      for (const [keys, pattern] of steps) {
        if (keys !== "") world.tasks.write(task_id, Buffer.from(keys));
        await world.wrote(task_id, pattern);
      }
    };
    await type(before);
    const late = await world.tasks.screen(task_id);
    const live = new Viewer(SIZE);
    await live.follow(upTo(world.sink.of(task_id), late.offset));
    expect(late).toMatchObject({ ...SIZE, exact: true });
    const joined = new Viewer(SIZE);
    await joined.join(late);
    expectSame(joined, live);
    await type(after);
    world.tasks.write(task_id, Buffer.from(leave));
    await world.tasks.ended(task_id);
    const all = world.sink.of(task_id);
    await Promise.all([live.follow(all), joined.follow(all)]);
    expectSame(joined, live);
    const last = new Viewer(SIZE);
    await last.join(await world.tasks.screen(task_id));
    expectSame(last, live);
  });
});

describe.each(Object.entries(PROGRAMS))("the output of %s", (name, { argv, before, after, leave }) => {
  it.runIf(has(name))("can be joined at any character, in the middle of a sequence too", async () => {
    writeFileSync(join(world.place.root ?? "", "file.txt"), LINES);
    const { task_id } = await world.start({ argv, execution_mode: "pty", ...SIZE });
    for (const [keys, pattern] of [...before, ...after]) {
      if (keys !== "") world.tasks.write(task_id, Buffer.from(keys));
      await world.wrote(task_id, pattern);
    }
    world.tasks.write(task_id, Buffer.from(leave));
    await world.tasks.ended(task_id);
    const all = Buffer.from(world.sink.text(task_id, "pty"));
    const whole = new Viewer(SIZE);
    await whole.show(all);
    const sizes = [{ ...SIZE, offset: 0 }];
    const ends = Array.from({ length: 60 }, (_, i) => characterStart(all, Math.floor((all.length * i) / 60) + i));
    // The ends of the sequences are where it goes wrong.
    for (let at = all.length; at > 0 && ends.length < 100; at = all.lastIndexOf("\u001b", at - 1))
      ends.push(Math.min(all.length, at + (ends.length % 5)));
    for (const end of ends) {
      const read = async (offset: number, limit: number) => ({
        offset,
        bytes: all.subarray(offset, Math.min(end, offset + limit)),
        total: end,
      });
      const screen = new TaskScreen({ sizes, total: () => end, read });
      const viewer = new Viewer(SIZE);
      await viewer.join(await screen.now());
      await viewer.show(all.subarray(end));
      expectSame(viewer, whole, `joined at byte ${end}`);
      screen.dispose();
    }
  });
});

describe("an unfinished sequence", () => {
  it.each([
    ["text", ""],
    ["a\u001b[31mb", ""],
    ["a\u001b", "\u001b"],
    ["a\u001b[31m\u001b[1;3", "\u001b[1;3"],
    ["\u001b]0;title", "\u001b]0;title"],
    ["\u001b]0;title\u0007x", ""],
    ["\u001b]0;title\u001b", "\u001b]0;title\u001b"],
    ["\u001b]0;title\u001b\\", ""],
    ["\u001bP1$r\u001b[3", "\u001bP1$r\u001b[3"],
    ["\u001b(", "\u001b("],
    ["\u001b(B", ""],
    ["\u001b[3\u0018", ""],
    ["\u001b[3\u001b[4", "\u001b[4"],
  ])("%j", (bytes, rest) => expect(unfinishedSequence(Buffer.from(bytes)).toString()).toBe(rest));
});

const upTo = (events: readonly TaskEvent[], offset: number): TaskEvent[] =>
  events.filter((event) => event.type !== "task.output" || (event.data.offset ?? 0) < offset);

describe("a screen", () => {
  it("follows changes of the size, each at its place in the output", async () => {
    const { task_id } = await world.start({ argv: ["cat"], execution_mode: "pty", rows: 5, cols: 20 });
    const line = "0123456789".repeat(3);
    for (const [i, cols] of [10, 40, 25].entries()) {
      world.tasks.write(task_id, Buffer.from(`${line}${i}\n`));
      await world.wrote(task_id, new RegExp(`${line}${i}\r\n${line}${i}\r\n`));
      await world.tasks.resize(task_id, { rows: 5 + i, cols });
    }
    const live = new Terminal({ rows: 5, cols: 20, scrollback: 1_000, allowProposedApi: true });
    const addon = new SerializeAddon();
    live.loadAddon(addon);
    for (const event of world.sink.of(task_id)) {
      if (event.type === "task.resized") live.resize(event.data.cols, event.data.rows);
      if (event.type === "task.output") await new Promise<void>((done) => live.write(Buffer.from(event.data.chunk), done));
    }
    const screen = await world.tasks.screen(task_id);
    expect(screen).toMatchObject({ rows: 7, cols: 25, exact: true });
    const joined = new Viewer(screen);
    await joined.join(screen);
    expect(joined.drawn).toBe(addon.serialize({ scrollback: 1_000 }));
  });

  it("of a terminal that wrote nothing is empty", async () => {
    const { task_id } = await world.start({ command: "sleep 600", execution_mode: "pty" });
    expect(await world.tasks.screen(task_id)).toEqual({ rows: 24, cols: 80, serialized: "", offset: 0, exact: true });
  });

  it("after too much output starts at the last clear, and says that it is not exact", async () => {
    const store = new OutputStore({ memory_bytes: 64 * 1024, file_bytes: 0 }, null);
    const sizes = [{ rows: 5, cols: 20, offset: 0 }];
    const screen = new TaskScreen({ sizes, total: () => store.total, read: (offset, limit) => store.read(offset, limit) });
    store.append(Buffer.from("\u001b[31mearly"));
    for (let i = 0; i < 2_000; i++) store.append(Buffer.from(`row ${i} ${"x".repeat(90)}\r\n`));
    store.append(Buffer.from("\u001b[H\u001b[2Jclean"));
    const drawn = await screen.now();
    expect(drawn).toMatchObject({ exact: false, offset: store.total });
    expect(drawn.serialized).toBe("clean\u001b[1;6H");
    store.append(Buffer.from(" more"));
    expect((await screen.now()).serialized).toBe("clean more\u001b[1;11H");
    screen.dispose();
    expect((await screen.now()).serialized).toBe("clean more\u001b[1;11H");
    screen.dispose();
  });

  it("many ask at once and get the same", async () => {
    const { task_id } = await world.run({ command: "seq 500", execution_mode: "pty" });
    const screens = await Promise.all(Array.from({ length: 5 }, () => world.tasks.screen(task_id)));
    expect(new Set(screens.map(({ serialized }) => serialized)).size).toBe(1);
    expect(screens[0]?.serialized.startsWith("1\r\n2\r\n")).toBe(true);
    expect(screens[0]?.serialized.endsWith("500\r\n\u001b[24;1H")).toBe(true);
    expect((await world.tasks.screen(task_id, { scrollback: 0 })).serialized).not.toMatch(/^1\r\n/);
  });
});

describe("where a replay begins", () => {
  it.each([
    ["at the last switch of the screen", "a\u001b[2Jb\u001b[?1049hc\u001b[2Jd", 6],
    ["at the last clear", "a\u001b[2Jb\u001b[H\u001b[2Jc", 6],
    ["at a line", "rest of a line\nnext", 15],
    ["at the beginning", "no line at all", 0],
  ])("%s", (_, tail, place) => expect(syncPoint(Buffer.from(tail))).toBe(place));
});
