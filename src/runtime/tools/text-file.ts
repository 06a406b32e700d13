/** A text file as lines that know their line ends, so that a change keeps what it does not change: the byte order mark, CRLF, mixed ends, a missing last newline. */
import { ToolError } from "./tool.ts";

export interface Line {
  readonly text: string;
  /** `\n`, `\r\n`, `\r`, or nothing at the end of the file. */
  readonly eol: string;
}

export interface TextFile {
  readonly bom: boolean;
  readonly lines: readonly Line[];
}

/** Throws `ToolError` for bytes that are no UTF-8 text: they would not come back as they were. */
export function decodeText(bytes: Buffer, path: string): string {
  const text = bytes.toString("utf8");
  if (bytes.includes(0) || !Buffer.from(text, "utf8").equals(bytes)) {
    throw new ToolError(`${path} is not UTF-8 text. Use bash to change it.`);
  }
  return text;
}

export function splitLines(text: string): TextFile {
  const bom = text.startsWith("\ufeff");
  const body = bom ? text.slice(1) : text;
  const lines: Line[] = [];
  let at = 0;
  for (const end of body.matchAll(/\r\n|\n|\r/g)) {
    lines.push({ text: body.slice(at, end.index), eol: end[0] });
    at = end.index + end[0].length;
  }
  if (at < body.length) lines.push({ text: body.slice(at), eol: "" });
  return { bom, lines };
}

export const joinLines = ({ bom, lines }: TextFile): string =>
  `${bom ? "\ufeff" : ""}${lines.map((line) => line.text + line.eol).join("")}`;

/** The line end most lines have. */
export function commonEol(lines: readonly Line[]): "\n" | "\r\n" {
  const crlf = lines.filter((line) => line.eol === "\r\n").length;
  return crlf > 0 && crlf * 2 >= lines.filter((line) => line.eol !== "").length ? "\r\n" : "\n";
}
