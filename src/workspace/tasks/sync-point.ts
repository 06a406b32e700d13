/** Where to begin when only the end of a terminal's output is replayed: after which the screen depends least on what came before. */

const ESC = "\u001b";
/** Reset, and the switch to or from the alternate screen: the screen starts anew. */
const RESTARTS = [`${ESC}c`, `${ESC}[?1049h`, `${ESC}[?1049l`, `${ESC}[?47h`, `${ESC}[?1047h`];
/** The whole screen is cleared, but the cursor and colours may be those of before. */
const CLEARS = [`${ESC}[H${ESC}[J`, `${ESC}[2J`];
const HOME = `${ESC}[H`;
const LF = 10;

/** Place in these bytes; 0 when there is nothing better. */
export function syncPoint(tail: Buffer): number {
  const restart = lastOf(tail, RESTARTS);
  if (restart !== -1) return restart;
  const clear = lastOf(tail, CLEARS);
  if (clear !== -1) return isHome(tail, clear - HOME.length) ? clear - HOME.length : clear;
  return tail.indexOf(LF) + 1;
}

const isHome = (tail: Buffer, at: number): boolean => at >= 0 && tail.toString("latin1", at, at + HOME.length) === HOME;

const lastOf = (tail: Buffer, sequences: readonly string[]): number =>
  Math.max(...sequences.map((sequence) => tail.lastIndexOf(sequence, undefined, "latin1")));
