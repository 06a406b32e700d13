/**
 * A short text as a QR code (ISO/IEC 18004) for a terminal: bytes, error correction level L, the smallest version that holds it. A link of ours needs about
 * 100 bytes; what needs more than version 9 is refused. Not here: other modes and levels, which nobody needs for a link.
 */

/** Modules of quiet space around it: readers need them. */
const BORDER = 2;
/** By version, from 1: data bytes, blocks, and error correction bytes in each block. */
const VERSIONS = [
  [19, 1, 7],
  [34, 1, 10],
  [55, 1, 15],
  [80, 1, 20],
  [108, 1, 26],
  [136, 2, 18],
  [156, 2, 20],
  [194, 2, 24],
  [232, 2, 30],
] as const;
/** Centres of the small squares, by version. Those on a large square are left out. */
const ALIGNMENT = [[], [6, 18], [6, 22], [6, 26], [6, 30], [6, 34], [6, 22, 38], [6, 24, 42], [6, 26, 46]] as const;
const MASKS: ((row: number, column: number) => boolean)[] = [
  (r, c) => (r + c) % 2 === 0,
  (r) => r % 2 === 0,
  (_, c) => c % 3 === 0,
  (r, c) => (r + c) % 3 === 0,
  (r, c) => (Math.floor(r / 2) + Math.floor(c / 3)) % 2 === 0,
  (r, c) => ((r * c) % 2) + ((r * c) % 3) === 0,
  (r, c) => (((r * c) % 2) + ((r * c) % 3)) % 2 === 0,
  (r, c) => (((r + c) % 2) + ((r * c) % 3)) % 2 === 0,
];
/** By the upper and the lower module of a line; true is dark. Light on dark, as most terminals are; phones read it inverted too. */
const BLOCKS = { "true true": " ", "true false": "▄", "false true": "▀", "false false": "█" } as const;

type Grid = (boolean | undefined)[][];

/** Two rows of modules in one line of half blocks. */
export function qrCode(text: string): string {
  const inner = qrModules(text);
  const side = inner.length + 2 * BORDER;
  const dark = (row: number, column: number): boolean => inner[row - BORDER]?.[column - BORDER] ?? false;
  return Array.from({ length: Math.ceil(side / 2) }, (_, line) =>
    Array.from({ length: side }, (__, column) => BLOCKS[`${dark(2 * line, column)} ${dark(2 * line + 1, column)}`]).join(""),
  ).join("\n");
}

/** The code without its border, row by row; true is dark. `only`: with this mask, instead of the one that reads best. */
export function qrModules(text: string, only?: number): boolean[][] {
  const bytes = Buffer.from(text);
  const version = VERSIONS.findIndex(([room]) => bytes.length + 2 <= room) + 1;
  if (version === 0) throw new RangeError(`A QR code of ours holds at most ${VERSIONS[8][0] - 2} bytes.`);
  const words = codewords(bytes, version);
  const patterns = withPatterns(version);
  const drawn = MASKS.map((mask, number) => withFormat(withData(patterns, words, mask), number));
  if (only !== undefined) return drawn[only] ?? [];
  return drawn.reduce((best, each) => (penalty(each) < penalty(best) ? each : best));
}

/** Data and error correction, block by block, interleaved. */
function codewords(bytes: Buffer, version: number): number[] {
  const [room, blocks, check] = VERSIONS[version - 1] ?? VERSIONS[0];
  // Mode 4 (bytes), the length, the bytes, the end: the mode is half a byte, so everything is counted in halves.
  const halves = [4, ...[bytes.length, ...bytes].flatMap((byte) => [byte >> 4, byte & 15]), 0];
  const filled = halves.length / 2;
  const data = Array.from({ length: room }, (_, at) =>
    at < filled ? ((halves[2 * at] ?? 0) << 4) | (halves[2 * at + 1] ?? 0) : (at - filled) % 2 === 0 ? 0xec : 0x11,
  );
  const short = Math.floor(room / blocks);
  const parts = Array.from({ length: blocks }, (_, at) => data.slice(at * short, (at + 1) * short));
  const checks = parts.map((part) => remainder(part, check));
  const interleaved = (lists: number[][], length: number): number[] =>
    Array.from({ length }, (_, at) => lists.flatMap((each) => each[at] ?? [])).flat();
  return [...interleaved(parts, short), ...interleaved(checks, check)];
}

const product = (a: number, b: number): number => {
  let sum = 0;
  for (let bit = 7; bit >= 0; bit--) sum = (sum << 1) ^ ((sum >> 7) * 0x11d) ^ (((b >> bit) & 1) * a);
  return sum;
};

/** Reed-Solomon over GF(256): what is left after division by the generator of this degree. */
function remainder(data: readonly number[], degree: number): number[] {
  let generator = [1];
  for (let root = 1, at = 0; at < degree; at++, root = product(root, 2))
    generator = [...generator, 0].map((value, i) => value ^ product(generator[i - 1] ?? 0, root));
  const left = Array.from<number>({ length: degree }).fill(0);
  for (const byte of data) {
    const factor = byte ^ (left.shift() ?? 0);
    left.push(0);
    generator.slice(1).forEach((value, at) => {
      left[at] = (left[at] ?? 0) ^ product(value, factor);
    });
  }
  return left;
}

function put(grid: Grid, row: number, column: number, dark: boolean): void {
  const line = grid[row];
  if (line && column >= 0 && column < grid.length) line[column] = dark;
}

/** Everything but data: squares, timing, version, and room for the format. Undefined is free. */
function withPatterns(version: number): Grid {
  const side = 17 + 4 * version;
  const grid: Grid = Array.from({ length: side }, () => Array.from({ length: side }));
  for (let at = 0; at < side; at++) {
    put(grid, 6, at, at % 2 === 0);
    put(grid, at, 6, at % 2 === 0);
  }
  const square = (row: number, column: number, reach: number): void => {
    for (let y = -reach; y <= reach; y++)
      for (let x = -reach; x <= reach; x++) {
        const ring = Math.max(Math.abs(x), Math.abs(y));
        put(grid, row + y, column + x, reach === 2 ? ring !== 1 : ring !== 2 && ring !== 4);
      }
  };
  for (const [row, column] of [
    [3, 3],
    [3, side - 4],
    [side - 4, 3],
  ] as const)
    square(row, column, 4);
  const centres = ALIGNMENT[version - 1] ?? [];
  for (const row of centres)
    for (const column of centres)
      if (![row, column].includes(6) || (row !== column && row + column !== side - 1)) square(row, column, 2);
  for (let at = 0; at < 9; at++) {
    if (at !== 6) {
      put(grid, 8, at, false);
      put(grid, at, 8, false);
    }
    if (at < 8) {
      put(grid, 8, side - 1 - at, false);
      put(grid, side - 1 - at, 8, false);
    }
  }
  put(grid, side - 8, 8, true);
  if (version >= 7) {
    const bits = (version << 12) | divided(version, 0x1f25, 12);
    for (let at = 0; at < 18; at++) {
      const [long, short] = [side - 11 + (at % 3), Math.floor(at / 3)];
      put(grid, long, short, ((bits >> at) & 1) === 1);
      put(grid, short, long, ((bits >> at) & 1) === 1);
    }
  }
  return grid;
}

/** Up and down in pairs of columns, from the lower right. */
function withData(patterns: Grid, words: readonly number[], mask: (row: number, column: number) => boolean): boolean[][] {
  const side = patterns.length;
  const grid = patterns.map((row) => [...row]);
  let bit = 0;
  for (let right = side - 1, up = true; right >= 1; right -= 2, up = !up) {
    if (right === 6) right = 5;
    for (let step = 0; step < side; step++) {
      const row = up ? side - 1 - step : step;
      for (const column of [right, right - 1]) {
        if (patterns[row]?.[column] !== undefined) continue;
        const dark = (((words[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1) === 1;
        put(grid, row, column, dark !== mask(row, column));
        bit++;
      }
    }
  }
  return grid.map((row) => row.map((module) => module === true));
}

/** Level L is 1. Written twice, beside the large squares. */
function withFormat(grid: boolean[][], mask: number): boolean[][] {
  const side = grid.length;
  const bits = (((8 | mask) << 10) | divided(8 | mask, 0x537, 10)) ^ 0x5412;
  for (let at = 0; at < 15; at++) {
    const dark = ((bits >> at) & 1) === 1;
    const near = at < 6 ? at : at < 8 ? at + 1 : at === 8 ? 7 : 14 - at;
    if (at < 8) {
      put(grid, near, 8, dark);
      put(grid, 8, side - 1 - at, dark);
    } else {
      put(grid, 8, near, dark);
      put(grid, side - 15 + at, 8, dark);
    }
  }
  return grid;
}

/** The remainder of `value`, shifted, by this polynomial. */
function divided(value: number, polynomial: number, degree: number): number {
  let left = value;
  for (let at = 0; at < degree; at++) left = (left << 1) ^ ((left >> (degree - 1)) * polynomial);
  return left;
}

/** How hard it is to read: long runs, squares of one colour, what looks like a large square, and one colour that prevails. */
function penalty(grid: boolean[][]): number {
  const side = grid.length;
  const lines = [...grid, ...grid.map((_, column) => grid.map((row) => row[column] === true))];
  let sum = 0;
  for (const line of lines) {
    const text = line.map((dark) => (dark ? "1" : "0")).join("");
    for (const [run] of text.matchAll(/0{5,}|1{5,}/g)) sum += run.length - 2;
    for (let at = 0; at + 11 <= side; at++) if (/^(00001011101|10111010000)$/.test(text.slice(at, at + 11))) sum += 40;
  }
  for (let row = 0; row + 1 < side; row++)
    for (let column = 0; column + 1 < side; column++) {
      const here = grid[row]?.[column];
      if ([grid[row]?.[column + 1], grid[row + 1]?.[column], grid[row + 1]?.[column + 1]].every((each) => each === here))
        sum += 3;
    }
  const dark = grid.flat().filter(Boolean).length;
  return sum + 10 * Math.floor(Math.abs((dark * 20) / (side * side) - 10));
}
