/** Terminals of an agent that lets its client run its commands: what it asks for, and what is reported of them. Not here: who runs the commands (the daemon). */

export type CommandExit = { exitCode: number | null; signal: string | null };

/** What an agent that lets its client run its commands asks for. Parameters and answers are those of the protocol's `terminal/*`. */
export interface AgentTerminals {
  create(params: Readonly<Record<string, unknown>>): Promise<{ terminalId: string }>;
  output(params: Readonly<Record<string, unknown>>): { output: string; truncated: boolean; exitStatus?: CommandExit };
  waitForExit(params: Readonly<Record<string, unknown>>): Promise<CommandExit>;
  kill(params: Readonly<Record<string, unknown>>): Promise<Record<string, never>>;
  release(params: Readonly<Record<string, unknown>>): Promise<Record<string, never>>;
  /** Ends all of them: no process is left when it resolves. */
  closeAll(): Promise<void>;
}

export type TerminalsOptions = {
  session_id: string;
  /** Where a command may run; rejects what is outside. */
  directory(asked: string | undefined): Promise<string>;
  environment: Readonly<Record<string, string>>;
  /** What a running command wrote, and how it ended. */
  onOutput(terminalId: string, text: string): void;
  onExit(terminalId: string, exit: CommandExit): void;
};
