/**
 * Long reads in small steps: one step of one reader in each turn of the event loop, whoever else waits. So a hundred exports at once make each other slow, and
 * nobody else.
 */
const CHUNK_CHARS = 64 * 1024;

const waiting: (() => void)[] = [];

/** Resolves in a later turn of the event loop, for one caller a turn, in the order they asked. */
export function ownTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(letOneGo);
  });
}

function letOneGo(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(letOneGo);
}

/** The same text in pieces of a size that is cheap to hold for a client that does not read, each in a turn of its own. */
export async function* paced(texts: Iterable<string> | AsyncIterable<string>): AsyncGenerator<string> {
  let piece = "";
  for await (const text of texts) {
    piece += text;
    if (piece.length < CHUNK_CHARS) continue;
    yield piece;
    piece = "";
    await ownTurn();
  }
  if (piece !== "") yield piece;
}
