/** Whether a person who typed this chose one of the agent's own commands. For programs in which people type; what a program forwards is text. */
export function choosesCommand(text: string, commands: readonly { name: string }[]): boolean {
  const typed = /^\s*\/?(\S+)/.exec(text)?.[1];
  const slash = text.trimStart().startsWith("/");
  return commands.some(({ name }) => name.replace(/^\//, "") === typed && (slash || name.startsWith("$")));
}
