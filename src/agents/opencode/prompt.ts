// What a message of the person becomes: a prompt with attachments, a slash command, a shell command, or one of OpenCode's own words.
import { pathToFileURL } from "node:url";
import type { Attachment, Prompt } from "../contract.ts";

export type Intent =
  | { kind: "prompt" }
  | { kind: "shell"; command: string }
  | { kind: "command"; command: string; arguments: string }
  | { kind: "compact" }
  | { kind: "undo" }
  | { kind: "redo" };

/** The same words as in OpenCode's own terminal. A slash with an unknown word is plain text: it may be a path. */
export function readIntent(text: string, commands: ReadonlySet<string>): Intent {
  if (/^!\s*\S/.test(text)) return { kind: "shell", command: text.slice(1).trim() };
  const slash = /^\/([\w./:-]+)(?:\s+([\s\S]*))?$/.exec(text.trim());
  const name = slash?.[1];
  if (name === undefined) return { kind: "prompt" };
  if (commands.has(name)) return { kind: "command", command: name, arguments: slash?.[2] ?? "" };
  switch (name) {
    case "compact":
    case "summarize":
      return { kind: "compact" };
    case "undo":
      return { kind: "undo" };
    case "redo":
      return { kind: "redo" };
    default:
      return { kind: "prompt" };
  }
}

export type FileInput = { type: "file"; mime: string; filename: string; url: string };
export type PartInput = { type: "text"; text: string } | FileInput;

export const promptParts = ({ text, attachments }: Prompt): PartInput[] => [
  ...(text === "" && attachments.length > 0 ? [] : [{ type: "text", text } as const]),
  ...attachments.map(fileInput),
];

/** Images travel in the request. Other files are named where they lie on disk, so that OpenCode reads them itself. */
export function fileInput({ name, mime, bytes, path }: Attachment): FileInput {
  const inline = path === null || mime.startsWith("image/") || mime === "application/pdf";
  const url = inline ? `data:${mime};base64,${bytes.toString("base64")}` : pathToFileURL(path).href;
  return { type: "file", mime, filename: name, url };
}

/** `provider/model`, where the model's own name may hold slashes. */
export function readModel(model: string | null): { providerID: string; modelID: string } | null {
  if (model === null) return null;
  const slash = model.indexOf("/");
  if (slash <= 0) return null;
  return { providerID: model.slice(0, slash), modelID: model.slice(slash + 1) };
}
