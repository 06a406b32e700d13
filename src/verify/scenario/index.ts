// What the rest of the program uses of scenarios.

export * from "../../agents/scenario.ts";
export { commonScenarios } from "./library/index.ts";
export { formatMarker, promptFor } from "./marker.ts";
export { nativeCall, type ToolProfile } from "./tool-names.ts";
