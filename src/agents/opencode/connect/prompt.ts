// What a message of the person becomes: a prompt with attachments, or a command the person chose.
import { pathToFileURL } from "node:url";
import { AgentError, type Attachment, type Prompt } from "../../contract.ts";

export type Intent =
  | { kind: "prompt" }
  | { kind: "command"; command: string; arguments: string }
  | { kind: "compact" }
  | { kind: "undo" }
  | { kind: "redo" };

/** Only a chosen command is one: the server itself never looks for commands in a text. An unknown one is refused. */
export function readIntent({ command }: Prompt, commands: ReadonlySet<string>): Intent {
  if (command === undefined) return { kind: "prompt" };
  if (commands.has(command.name)) return { kind: "command", command: command.name, arguments: command.arguments };
  switch (command.name) {
    case "compact":
    case "summarize":
      return { kind: "compact" };
    case "undo":
      return { kind: "undo" };
    case "redo":
      return { kind: "redo" };
    default:
      throw new AgentError("agent_refused", `OpenCode has no command /${command.name}.`);
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
