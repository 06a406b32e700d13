/** The package of OpenCode, and the version that was verified: the program itself, and the same one behind ACP. */
export const OPENCODE_PACKAGE = { name: "opencode-ai", version: "1.18.33", bin: "opencode", script: true };
