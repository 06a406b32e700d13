/** How far a long transfer is, on one line of the terminal that is written again. Without a terminal nothing is shown. */
import type { Output } from "./output.ts";

const REDRAW_MS = 200;
const UNITS = ["B", "kB", "MB", "GB", "TB"];

/** `12.3 MB`. */
export function sizeText(bytes: number): string {
  const step = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const value = bytes / 1000 ** step;
  return `${step === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[step]}`;
}

/** Passes chunks on and shows how many bytes went by, of how many where that is known. The line stays: whoever waits for the answer clears it. */
export async function* withProgress(
  chunks: AsyncIterable<Uint8Array>,
  { output, what, total }: { output: Output; what: string; total?: number | undefined },
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  let drawn = 0;
  for await (const chunk of chunks) {
    yield chunk;
    bytes += chunk.length;
    if (!output.isTTY || Date.now() - drawn < REDRAW_MS) continue;
    drawn = Date.now();
    const of = total ? ` of ${sizeText(total)} (${Math.floor((100 * bytes) / total)} %)` : "";
    output.clearLine();
    output.write(`${what} ${sizeText(bytes)}${of}`);
  }
  if (!output.isTTY) return;
  output.clearLine();
  output.write(`${what} ${sizeText(bytes)} sent, being written\u2026`);
}
