/** What a loop is made of. */
import type { RetryPolicy } from "../openresponses/retry.ts";
import type { PermissionPolicy } from "./call-runner.ts";
import type { CompactorPorts } from "./compaction.ts";
import type { FrameListener } from "./frames.ts";
import type { CallPerformer } from "./perform.ts";
import type { BlobStore, Clock, Ids, JournalStore, PermissionAsker, TaskStarter } from "./ports.ts";
import type { Settings } from "./settings.ts";
import type { ModelTransport } from "./step.ts";
import type { ToolRegistry } from "./tools/registry.ts";

export interface AgentLoopOptions {
  readonly sessionId: string;
  /** Used when the journal is empty; afterwards the journal's settings hold. */
  readonly settings: Settings;
  /** Absolute, without links. */
  readonly directory: string;
  readonly journal: JournalStore;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly transport: ModelTransport;
  readonly registry: ToolRegistry;
  readonly policy: PermissionPolicy;
  readonly asker: PermissionAsker;
  readonly tasks: TaskStarter;
  readonly onFrame?: FrameListener;
  readonly retry?: RetryPolicy;
  readonly compactAtProvider?: CompactorPorts["atProvider"];
  /** For a replay. */
  readonly performer?: CallPerformer;
  /** For a replay: called before each request is built. */
  readonly beforeRequest?: (n: number) => void;
}
