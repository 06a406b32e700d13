/**
 * What every scripted agent of the benchmark does when it is prompted, in the words of the mock agent. It makes texts; how a text is said on the wire is the
 * agent's own.
 *   flood N [unicode]   N texts of 20 bytes at full speed
 *   clock N MS          N texts with the time in microseconds, one each MS milliseconds
 *   rate N PER_SECOND   the same, so many a second
 *   anything else       one text
 */
/** Texts of 20 bytes, one after the other: neighbours have nothing in common that a store could leave out. */
const ASCII = [
  "The answer is short,",
  " 3 of 5 tests passed",
  "; see lib/parse.ts: ",
  "a line may end with ",
  "(or begin with) what",
];
const UNICODE = ["Größe 日本 👍 ", "é: 3 αβγδ → ok", " ja — über 20 €?", "ну 漢字 ± ½ x", "✓ naïve 東京 ©."];
const BATCH = 500;
/** Texts in one message: real ones end. */
const MESSAGE = 1000;

const now = () => Math.round((performance.timeOrigin + performance.now()) * 1000);
const delay = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** `message()` begins a message and returns how a text of it is written: as whole lines. `write` resolves when more may be written. */
export async function play(prompt, message, write) {
  const [word, first = "1", second = ""] = prompt.trim().split(" ");
  const count = Number(first);
  if (word === "flood") return flood(count, second === "unicode" ? UNICODE : ASCII, message, write);
  if (word === "clock") return paced(count, 1000 / Number(second), message, write);
  if (word === "rate") return paced(count, Number(second), message, write);
  await write(message()("ready "));
}

async function flood(count, texts, message, write) {
  for (let from = 0; from < count; from += MESSAGE) {
    const line = message();
    const end = Math.min(count, from + MESSAGE);
    for (let at = from; at < end; at += BATCH) {
      let lines = "";
      for (let i = at; i < Math.min(end, at + BATCH); i++) lines += line(texts[i % texts.length]);
      await write(lines);
    }
  }
}

/** A text a write, as an agent does that gets tokens one by one. Timers are too coarse for 5,000 a second: each tick writes what is due. */
async function paced(count, perSecond, message, write) {
  const began = performance.now();
  let line = message();
  for (let sent = 0; sent < count; ) {
    const due = Math.min(count, Math.floor(((performance.now() - began) * perSecond) / 1000) + 1);
    for (; sent < due; sent++) {
      if (sent > 0 && sent % MESSAGE === 0) line = message();
      await write(line(`${now()} `));
    }
    await delay(Math.max(1, 1000 / perSecond - 1));
  }
}

/** Writes to a stream, and waits where its reader is slower. */
export function writerTo(stream) {
  // Many turns may wait for it at once.
  stream.setMaxListeners(0);
  return (lines) =>
    stream.write(lines) || stream.destroyed ? undefined : new Promise((resolve) => stream.once("drain", resolve));
}
