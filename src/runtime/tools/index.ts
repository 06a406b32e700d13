/** The tools our own agent has without anything else: files, search, commands, pages, a plan. */
import { applyPatchTool } from "./apply-patch.ts";
import { bashTool } from "./bash.ts";
import { editTool } from "./edit.ts";
import { type FetchToolOptions, fetchTool } from "./fetch.ts";
import { planTool } from "./plan.ts";
import { readTool } from "./read.ts";
import { globTool, grepTool, lsTool } from "./search.ts";
import { taskTool } from "./task.ts";
import type { AnyTool } from "./tool.ts";
import { writeTool } from "./write.ts";

export const baseTools = (options: { readonly fetch?: FetchToolOptions } = {}): AnyTool[] => [
  readTool,
  writeTool,
  editTool,
  applyPatchTool,
  lsTool,
  globTool,
  grepTool,
  bashTool,
  taskTool,
  fetchTool(options.fetch),
  planTool,
];
