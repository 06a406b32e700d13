/** What an agent in a package of its own is built from: `dragoman/agent`. The contract, and the parts of the kit that are promised to stay. */
export type { Draft, DraftOf } from "../../schema/draft.ts";
export type { ModeInfo, ModelInfo, PermissionMode, PermissionOption, QuestionPrompt } from "../../schema/event-data.ts";
export * from "../contract.ts";
export { arr, asText, isRecord, type JsonRecord, num, rec, records, str, toJson } from "../json.ts";
export { heartbeat, mapped, noted, unparsed } from "../translation.ts";
export { type CapabilityDifferences, capabilities } from "./capabilities.ts";
export { carriedFiles, type PathPattern } from "./carry.ts";
export * from "./choices.ts";
export { authRequired, byStatus, errorData, type Fault, type FaultRows, faultOf, ofAgent, ofProvider } from "./error-table.ts";
export * from "./forms.ts";
export { inspectLoaded, inspectProgram, type ProgramQuestions } from "./inspect.ts";
export { perDaemon } from "./per-daemon.ts";
export * from "./recorded-process.ts";
