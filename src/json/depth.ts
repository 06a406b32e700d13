/**
 * How deep JSON of strangers may be nested: what an agent, an endpoint, a client or an imported file wrote. `JSON.parse` has no limit, but whoever walks over
 * the value, or writes it again, would run out of stack. Not here: what the values mean.
 */

/** Of a body and of a line of an export. */
export const MAX_DEPTH = 200;

/** Of a message of an agent or an endpoint: an event puts some levels around it, and must still be within `MAX_DEPTH` in an export. */
export const MAX_MESSAGE_DEPTH = MAX_DEPTH - 20;

/** A message. Throws for what is no JSON, as `JSON.parse` does, and for what is nested too deeply. */
export function parseMessage(text: string): unknown {
  // Whatever is opened must be closed, so a shorter text is not too deep, or no JSON. Nearly all pieces of an answer are shorter.
  if (text.length > 2 * MAX_MESSAGE_DEPTH && nestsDeeper(text, MAX_MESSAGE_DEPTH))
    throw new SyntaxError(`The JSON is nested deeper than ${MAX_MESSAGE_DEPTH} levels.`);
  return JSON.parse(text);
}

/** True only for a text that is too deep or no JSON. */
export function nestsDeeper(text: string, limit: number): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === OPEN_ARRAY || code === OPEN_OBJECT) {
      if (++depth > limit) return true;
    } else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) depth--;
  }
  return false;
}

/** Where the string that begins here ends. Searched natively: most of a large text is strings. */
function endOfString(text: string, from: number): number {
  for (let end = text.indexOf('"', from + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}

const [QUOTE, BACKSLASH, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];
