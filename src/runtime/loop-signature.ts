/**
 * Finds a model that goes in circles: the same call with the same result. A call whose result changes is polling, not a loop.
 */

/** The same three times in a row, or more than five times in the last ten. */
export function isLoop(signatures: readonly string[]): boolean {
  const last = signatures.at(-1);
  if (last === undefined) return false;
  if (signatures.length >= 3 && signatures.slice(-3).every((one) => one === last)) return true;
  return signatures.slice(-10).filter((one) => one === last).length > 5;
}
