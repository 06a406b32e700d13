/** Bytes of a range of UTF-8 without the halves of characters at its borders. */

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** `atEnd`: nothing follows, so that what is unfinished there is kept. `skipped`: bytes at the beginning that were left out. */
export function wholeCharacters(bytes: Buffer, atEnd: boolean): { skipped: number; bytes: Buffer } {
  let skipped = 0;
  while (skipped < 3 && isContinuation(bytes[skipped])) skipped += 1;
  return { skipped, bytes: bytes.subarray(skipped, atEnd ? bytes.length : wholeEnd(bytes)) };
}

function wholeEnd(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needs > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
