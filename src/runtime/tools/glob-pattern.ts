/** Globs as regular expressions: `*`, `**`, `?`, `[…]`, `{a,b}`. Always anchored, `/` is only matched by `**`. */

/** Matches paths with `/`, relative to the directory the pattern belongs to. */
export function globToRegExp(pattern: string): RegExp {
  return new RegExp(`^${translate(pattern)}$`, "su");
}

function translate(pattern: string): string {
  let out = "";
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern[at] as string;
    if (char === "*" && pattern[at + 1] === "*") {
      const slash = pattern[at + 2] === "/";
      const whole = at === 0 || pattern[at - 1] === "/";
      // `**/` is any number of directories, also none.
      if (whole && slash) [out, at] = [`${out}(?:[^/]+/)*`, at + 2];
      else [out, at] = [`${out}.*`, at + 1];
    } else if (char === "*") out += "[^/]*";
    else if (char === "?") out += "[^/]";
    else if (char === "[") {
      const end = pattern.indexOf("]", pattern[at + 1] === "]" ? at + 2 : at + 1);
      if (end === -1) out += "\\[";
      else {
        const inner = pattern
          .slice(at + 1, end)
          .replace(/^[!^]/, "^")
          .replaceAll(/[\\[\]&~]/g, "\\$&");
        out += inner === "^" || inner === "" ? "\\[" : `(?!/)[${inner}]`;
        at = inner === "^" || inner === "" ? at : end;
      }
    } else if (char === "{") {
      const end = closing(pattern, at);
      if (end === -1) out += "\\{";
      else {
        out += `(?:${alternatives(pattern.slice(at + 1, end))
          .map(translate)
          .join("|")})`;
        at = end;
      }
    } else if (char === "\\" && at + 1 < pattern.length) {
      at += 1;
      out += escaped(pattern[at] as string);
    } else out += escaped(char);
  }
  return out;
}

const escaped = (char: string): string => char.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

function closing(pattern: string, open: number): number {
  let depth = 0;
  for (let at = open; at < pattern.length; at += 1) {
    if (pattern[at] === "{") depth += 1;
    else if (pattern[at] === "}") {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return -1;
}

function alternatives(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === "{") depth += 1;
    else if (text[at] === "}") depth -= 1;
    else if (text[at] === "," && depth === 0) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  return [...parts, text.slice(from)];
}
