/** Text for agents that read commands out of what a person writes. Not here: commands the person chose. */
import type { Prompt } from "./contract.ts";

/** ZERO WIDTH SPACE: no agent trims it away, as gemini 0.61 and copilot 1.0 do with a plain space. */
const MARK = "\u200b";

/**
 * The text as these agents take it for text: Claude Code and the agents that speak ACP read a slash at its beginning as a command. The model sees the text
 * with one invisible character before it.
 */
export const asText = ({ text, command }: Prompt): string =>
  command === undefined && text.trimStart().startsWith("/") ? `${MARK}${text}` : text;

/** What the person wrote, out of what was sent. */
export const withoutMark = (sent: string): string =>
  sent.startsWith(MARK) && sent.slice(1).trimStart().startsWith("/") ? sent.slice(1) : sent;
