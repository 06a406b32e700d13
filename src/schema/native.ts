/** Words about native messages that the log, the agents and their sessions share. */

/**
 * Where a native message came from. `in`: we wrote it to the agent, `out`: the agent wrote it, `sse`/`http`: an event stream, a request or its answer,
 * `err`: a line of stderr, `exit`: the process is gone. The same words stand in recorded traces.
 */
export type NativeDirection = "in" | "out" | "err" | "exit" | "http" | "sse";

/** What became of a native message. There is no fifth one. */
export type Disposition = "mapped" | "noted" | "heartbeat" | "unparsed";
