/** An escape sequence that has begun and not ended: a terminal that is handed a screen in the middle of one must know its beginning, or it prints the rest as text. */

const ESC = 0x1b;
const BEL = 0x07;
const CAN = 0x18;
const SUB = 0x1a;
/** The byte after ESC begins a string that ends with BEL or ESC \: DCS, SOS, OSC, PM, APC. */
const STRINGS = new Set([0x50, 0x58, 0x5d, 0x5e, 0x5f]);
const CSI = 0x5b;
const NOTHING = Buffer.alloc(0);

type Place = "ground" | "escape" | "intermediate" | "csi" | "string" | "string escape";

/** The end of these bytes, from where the sequence begins; empty when there is none. The first byte is taken to be outside of any sequence. */
export function unfinishedSequence(bytes: Buffer): Buffer {
  let place: Place = "ground";
  let start = 0;
  for (let i = 0; i < bytes.length; i++) {
    if (place === "ground") {
      // Most bytes are text.
      i = bytes.indexOf(ESC, i);
      if (i === -1) return NOTHING;
      start = i;
      place = "escape";
      continue;
    }
    const byte = bytes[i] ?? 0;
    const next = step(place, byte);
    if (next === "escape") start = i;
    place = next;
  }
  return place === "ground" ? NOTHING : bytes.subarray(start);
}

function step(place: Exclude<Place, "ground">, byte: number): Place {
  if (byte === CAN || byte === SUB) return "ground";
  switch (place) {
    case "escape":
      if (byte === CSI) return "csi";
      if (STRINGS.has(byte)) return "string";
      return afterEscape(byte);
    case "intermediate":
      return afterEscape(byte);
    case "csi":
      if (byte === ESC) return "escape";
      return byte >= 0x40 && byte <= 0x7e ? "ground" : "csi";
    case "string":
      if (byte === BEL) return "ground";
      return byte === ESC ? "string escape" : "string";
    case "string escape":
      // ESC ends the string. What follows is \, or a sequence that the beginning of the string does not change.
      return step("escape", byte);
    default:
      return place satisfies never;
  }
}

/** 0x20 to 0x2f stand between ESC and the final byte. */
function afterEscape(byte: number): Place {
  if (byte === ESC) return "escape";
  return byte >= 0x20 && byte <= 0x2f ? "intermediate" : "ground";
}
