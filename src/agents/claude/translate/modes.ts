// Permission modes: the shared words and Claude Code's own.
import type { PermissionMode } from "../../../schema/event-data.ts";

const NATIVE: Record<PermissionMode, string> = {
  default: "default",
  plan: "plan",
  accept_edits: "acceptEdits",
  bypass: "bypassPermissions",
};

export const toNativeMode = (mode: PermissionMode): string => NATIVE[mode];

/** Modes of its own (`dontAsk`, `auto`) keep their name. */
export function fromNativeMode(mode: string): string {
  for (const [ours, native] of Object.entries(NATIVE)) if (native === mode) return ours;
  return mode;
}
