/** Requests Claude Code makes for itself. */
import type { SideCallRule } from "../../kit/verify/side-calls.ts";

export const claudeSideCalls: readonly SideCallRule[] = [
  // claude 2.1.325
  { kind: "summary", where: "user", pattern: /Your task is to create a detailed summary of (the|this)\b/ },
  { kind: "suggestion", where: "user", pattern: /^\s*\[SUGGESTION MODE:/ },
  { kind: "label", where: "system", pattern: /Write a short summary label describing what these tool calls/ },
  { kind: "page", where: "user", pattern: /^\s*Web page content:/ },
  { kind: "quota", where: "user", pattern: /^\s*quota\s*$/ },
  // set_model asks a model it does not know for one token.
  { kind: "quota", where: "user", pattern: /^\s*Hi\s*$/ },
  { kind: "title", where: "system", pattern: /Analyze if this message indicates a new conversation topic|sentence-case title/i },
];
