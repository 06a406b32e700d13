// A message with its attachments as Codex input.
import { AgentError, type Attachment, type Prompt } from "../../contract.ts";
import type { JsonRecord } from "../../json.ts";

export type Skill = { name: string; path: string };

/** Text first, then what it speaks of. */
export function promptInput(prompt: Prompt, skills: readonly Skill[]): JsonRecord[] {
  return [
    { type: "text", text: prompt.text, text_elements: [] },
    ...skills.filter(({ name }) => mentions(prompt.text, name)).map(({ name, path }) => ({ type: "skill", name, path })),
    ...prompt.attachments.map(attachmentInput),
  ];
}

/** `$name`, as a word of its own. */
const mentions = (text: string, name: string): boolean => text.split(/[\s,;.!?]+/).includes(`$${name}`);

function attachmentInput({ name, mime, bytes, path }: Attachment): JsonRecord {
  if (mime.startsWith("image/"))
    return path === null ? { type: "image", url: dataUrl(mime, bytes) } : { type: "localImage", path };
  if (mime.startsWith("audio/"))
    return path === null ? { type: "audio", url: dataUrl(mime, bytes) } : { type: "localAudio", path };
  if (path !== null) return { type: "mention", name, path };
  if (mime.startsWith("text/") || mime === "application/json")
    return { type: "text", text: `Attached file ${name}:\n${bytes.toString("utf8")}`, text_elements: [] };
  throw new AgentError(
    "unsupported",
    `Codex takes images, audio, text and files on disk; ${name} is ${mime}. Give its path instead.`,
  );
}

const dataUrl = (mime: string, bytes: Buffer): string => `data:${mime};base64,${bytes.toString("base64")}`;
