/**
 * Long reads in small steps: one step of one reader at a time, and turns of the event loop between them, whoever else waits. So a hundred exports at once make
 * each other slow, and nobody else.
 */
const CHUNK_CHARS = 64 * 1024;
/** libuv takes one new connection in each turn: without turns that are for nothing else, who connects waits for one step for each that came before. */
const TURNS_BETWEEN = 16;

const waiting: (() => void)[] = [];
let turns = 0;

/** Resolves in a later turn of the event loop, for one caller at a time, in the order they asked. */
export function ownTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(turn);
  });
}

function turn(): void {
  turns += 1;
  if (turns >= TURNS_BETWEEN) {
    turns = 0;
    waiting.shift()?.();
  }
  if (waiting.length > 0) setImmediate(turn);
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
