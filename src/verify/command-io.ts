// Where a command writes. `process` fits; tests bring their own.
export type CommandOutput = {
  write(text: string): unknown;
  /** Takes back the line that is being written, on a terminal. */
  clearLine?(): void;
  readonly isTTY?: boolean;
  readonly columns?: number | undefined;
};

export type CommandIo = { readonly stdout: CommandOutput; readonly stderr: CommandOutput; readonly env?: NodeJS.ProcessEnv };
