/** Which permission mode lets an agent do more without asking. Not here: what an agent does in a mode. */
import type { PermissionMode } from "./event-data.ts";

/** From least to most. */
const MODES: readonly PermissionMode[] = ["plan", "default", "accept_edits", "bypass"];

export const isWider = (mode: PermissionMode, than: PermissionMode): boolean => MODES.indexOf(mode) > MODES.indexOf(than);
