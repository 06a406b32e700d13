/**
 * The scenarios in which agents are held side by side: those whose story has nothing to do with an agent's own modes and settings, and whose differences were
 * looked at one by one. A further one is added with what agents tell differently in it.
 */
export const comparedScenarios: readonly string[] = [
  "text",
  "thinking",
  "thinking-tool",
  "shell-ok",
  "shell-fail",
  "read",
  "write",
  "edit",
  "parallel-tools",
  "todo",
  "permission-allow",
  "permission-deny",
  "http-401",
  "refusal",
  "interrupt-text",
  "interrupt-tool",
  "queue-two",
  "steer",
  "kill-agent",
  "resume",
  "set-model",
  "terminate",
];
