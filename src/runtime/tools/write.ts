/** Writes a whole file: new, or in place of the old one with its permissions kept. */
import Type from "typebox";
import { isObject } from "../../openresponses/json.ts";
import { planChange, readCurrent } from "../file-changes.ts";
import { diffText, renamed } from "./edit.ts";
import { realPath, shownPath } from "./paths.ts";
import { defineTool } from "./tool.ts";

export const writeTool = defineTool({
  name: "write",
  description:
    "Writes a file with exactly this content. Directories on the way are made. An existing file is replaced: prefer edit for changes.",
  parameters: Type.Object({
    path: Type.String({ description: "The file." }),
    content: Type.String({ description: "The whole content." }),
  }),
  effect: "file",
  repair: (args) => (isObject(args) ? renamed(args) : args),
  subject: ({ path }, { directory }) => ({ kind: "edit", paths: [realPath(directory, path)] }),
  async prepare({ path, content }, { directory, at, blobs }) {
    const file = at(path);
    const shown = shownPath(directory, file);
    const current = await readCurrent(file);
    const change = await planChange(file, Buffer.from(content), blobs);
    const size = `${Buffer.byteLength(content)} bytes`;
    if (current === null) return { changes: [change], result: `Wrote ${shown} (new, ${size}).` };
    const before = current.bytes.toString("utf8");
    if (before === content) return { changes: [change], result: `${shown} has this content already.` };
    const diff = current.bytes.includes(0) ? "" : `\n${diffText(shown, before, content)}`;
    return { changes: [change], result: `Replaced ${shown} (${size}).${diff}` };
  },
});
