// Where a command writes. `process` fits; tests bring their own.
export type CommandOutput = { write(text: string): unknown; readonly isTTY?: boolean; readonly columns?: number };

export type CommandIo = { readonly stdout: CommandOutput; readonly stderr: CommandOutput; readonly env?: NodeJS.ProcessEnv };
