/**
 * Checkpoints of a session's directory: list, take, compare, go back; and what turns changed. Reading needs no more than the session itself; secrets in patches
 * are left out like everywhere. Going back is a command to the session.
 */
import Type from "typebox";
import {
  Changes,
  Checkpoint,
  CheckpointList,
  RewindCheckpoint,
  type RewindMode,
  Rewound,
  TakeCheckpoint,
} from "../../schema/checkpoint.ts";
import type { App, ServerContext } from "../server-context.ts";
import { callerOf } from "./auth.ts";
import { SessionPath } from "./parameters.ts";

const tag = "checkpoints";
const CheckpointPath = Type.Object({
  id: SessionPath.properties.id,
  checkpoint: Type.String({ description: "Id of the checkpoint.", minLength: 1, maxLength: 128 }),
});
const shown = {
  text: Type.Optional(Type.Boolean({ description: "with unified diffs; default true" })),
  path: Type.Optional(Type.String({ minLength: 1, maxLength: 4096, description: "only this path and what is below it" })),
};
const missing = ["session_not_found", "checkpoint_not_found", "checkpoints_off", "directory_not_found"] as const;

const viewOf = ({ text = true, path }: { text?: boolean; path?: string }) => ({
  text,
  ...(path === undefined ? {} : { paths: [path] }),
});

export function checkpointRoutes(app: App, { manager, rights }: ServerContext): void {
  app.get(
    "/v1/sessions/:id/checkpoints",
    {
      schema: { params: SessionPath },
      config: {
        tag,
        operation: "listCheckpoints",
        summary: "The checkpoints of a session, the oldest first.",
        replies: { 200: CheckpointList },
        problems: ["session_not_found"],
      },
    },
    async ({ params }) => {
      const session = await manager.get(params.id);
      if (!session.hasCheckpoints) return { checkpoints: [], state: "off" as const, reason: null };
      const { checkpoints, reason } = await session.checkpoints.list();
      return { checkpoints, state: reason === null ? ("on" as const) : ("touched" as const), reason };
    },
  );

  app.post(
    "/v1/sessions/:id/checkpoints",
    {
      schema: { params: SessionPath, body: TakeCheckpoint },
      config: {
        tag,
        emptyBody: true,
        agents: true,
        operation: "takeCheckpoint",
        summary: "Store the session's directory as it is now.",
        replies: { 201: Checkpoint },
        problems: ["session_not_found", "checkpoints_off", "checkpoint_refused", "directory_not_found", "disk_full"],
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      await rights.mustMayDrive(callerOf(request), id);
      return reply.code(201).send(await (await manager.get(id)).checkpoints.take(request.body.label));
    },
  );

  app.get(
    "/v1/sessions/:id/checkpoints/:checkpoint/diff",
    {
      schema: {
        params: CheckpointPath,
        querystring: Type.Object({
          to: Type.Optional(Type.String({ maxLength: 128, description: "another checkpoint of the session; default `now`" })),
          ...shown,
        }),
      },
      config: {
        tag,
        heavy: "page",
        operation: "diffCheckpoint",
        summary: "What changed from one checkpoint to another, or to now.",
        replies: { 200: Changes },
        problems: [...missing],
      },
    },
    async ({ params, query }) =>
      (await manager.get(params.id)).checkpoints.diff(params.checkpoint, query.to ?? "now", viewOf(query)),
  );

  app.post(
    "/v1/sessions/:id/checkpoints/:checkpoint/rewind",
    {
      schema: { params: CheckpointPath, body: RewindCheckpoint },
      config: {
        tag,
        emptyBody: true,
        reach: "branch",
        agents: true,
        operation: "rewindCheckpoint",
        summary: "Go back to a checkpoint: the files, the conversation, or both. A rewind to `undo_id` undoes it.",
        description:
          "What is overwritten or deleted is stored first. What a person changed between turns stays, unless `force`; git's refs are never touched.",
        replies: { 200: Rewound },
        problems: [
          ...missing,
          "turn_not_found",
          "session_busy",
          "fork_unsupported",
          "too_many_sessions",
          "checkpoint_refused",
          "disk_full",
        ],
      },
    },
    async (request) => {
      const { id, checkpoint } = request.params;
      const { mode = "files", dry_run = false, turn, ...options } = request.body;
      const caller = callerOf(request);
      await rights.mustMayDrive(caller, id);
      const session = await manager.get(id);
      const sequence = session.checkpoints.placeOf(checkpoint, turn);
      const wants = (which: RewindMode): boolean => mode === which || mode === "both";
      const files = wants("files") ? await session.checkpoints.rewind(checkpoint, { ...options, dry_run }) : null;
      const branch = wants("conversation") && !dry_run ? await manager.branchAt(id, sequence, caller.actor) : null;
      return { checkpoint_id: checkpoint, mode, dry_run, files, session_id: branch?.session_id ?? null };
    },
  );

  app.get(
    "/v1/sessions/:id/changes",
    {
      schema: {
        params: SessionPath,
        querystring: Type.Object({
          turn: Type.Optional(Type.String({ maxLength: 128, description: "only what changed during this turn" })),
          ...shown,
        }),
      },
      config: {
        tag,
        heavy: "page",
        operation: "listChanges",
        summary:
          "What changed in the directory during the session, or during one turn of it, whatever the agent used to change it.",
        replies: { 200: Changes },
        problems: ["session_not_found", "turn_not_found", "checkpoints_off", "directory_not_found"],
      },
    },
    async ({ params, query }) => (await manager.get(params.id)).checkpoints.changes(query.turn ?? null, viewOf(query)),
  );
}
