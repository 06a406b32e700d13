/** Tools for what a session changed in its directory, and for taking it back. */
import Type from "typebox";
import { type Tool, tool } from "./tool.ts";

const optional = Type.Optional;
const strict = { additionalProperties: false };
const SessionId = Type.String({ minLength: 1, maxLength: 128, description: "session_id of list_sessions or create_session" });
/** A model's context is small: longer patches are cut. */
const LONGEST_PATCH = 4_000;

export const checkpointTools: readonly Tool[] = [
  tool({
    name: "list_changes",
    description:
      "What changed in the session's directory during the session, or during one turn, as diffs: everything, also what was changed through a shell.",
    readOnly: true,
    input: Type.Object(
      {
        session_id: SessionId,
        turn_id: optional(Type.String({ description: "only this turn" })),
        path: optional(Type.String({ description: "only this path and what is below it" })),
      },
      strict,
    ),
    run: async ({ session_id, turn_id, path }, { daemon, signal }) => {
      const found = await daemon.session(session_id).changes({
        ...(turn_id === undefined ? {} : { turn: turn_id }),
        ...(path === undefined ? {} : { path }),
        signal,
      });
      return {
        ...found,
        changes: found.changes.map(({ path, change, patch, note }) => ({ path, change, patch: patch && cut(patch), note })),
      };
    },
  }),
  tool({
    name: "list_checkpoints",
    description: "The moments a session can go back to, the oldest first. `turn_start` is the state before a turn.",
    readOnly: true,
    input: Type.Object({ session_id: SessionId }, strict),
    run: ({ session_id }, { daemon, signal }) => daemon.session(session_id).checkpoints(signal),
  }),
  tool({
    name: "rewind",
    description:
      "Takes the session's files back to a checkpoint. What is overwritten is stored first: rewind to `undo_id` of the result to undo it. Try it with dry_run first.",
    readOnly: false,
    input: Type.Object(
      {
        session_id: SessionId,
        checkpoint_id: Type.String({ minLength: 1, maxLength: 128, description: "of list_checkpoints" }),
        dry_run: optional(Type.Boolean({ default: false })),
        paths: optional(Type.Array(Type.String({ minLength: 1 }), { minItems: 1, description: "only these" })),
      },
      strict,
    ),
    run: async ({ session_id, checkpoint_id, dry_run = false, paths }, { daemon, signal }) => {
      const request = { dry_run, ...(paths === undefined ? {} : { paths }) };
      const { files } = await daemon.session(session_id).rewind(checkpoint_id, request, signal);
      return { dry_run, files: files?.files ?? [], kept: files?.kept ?? [], undo_id: files?.undo_id ?? null };
    },
  }),
];

const cut = (text: string): string =>
  text.length <= LONGEST_PATCH ? text : `${text.slice(0, LONGEST_PATCH)}… (${text.length - LONGEST_PATCH} characters more)`;
