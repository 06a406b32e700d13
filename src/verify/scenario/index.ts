// What the rest of the program uses of scenarios.

export { commonScenarios } from "./library/index.ts";
export { formatMarker, promptFor } from "./marker.ts";
export * from "./scenario.ts";
export { type NativeCall, nativeCall, TOOL_NAMES, type ToolProfile } from "./tool-names.ts";
