/** Tools for what sessions stored beside their events: which artifacts there are, and a short look at one. */
import Type from "typebox";
import { type Tool, tool } from "./tool.ts";

const strict = { additionalProperties: false };

export const artifactTools: readonly Tool[] = [
  tool({
    name: "list_artifacts",
    description: "What a session and its tasks stored beside their events: images, long outputs, attachments. The newest first.",
    readOnly: true,
    input: Type.Object(
      {
        session_id: Type.String({ minLength: 1, maxLength: 128, description: "session_id of list_sessions or create_session" }),
        kind: Type.Optional(Type.Enum(["image", "audio", "tool_output", "json", "text", "file"])),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
      },
      strict,
    ),
    run: async ({ session_id, kind, limit = 20 }, { daemon, signal }) =>
      daemon.session(session_id).artifacts({ limit, ...(kind === undefined ? {} : { kind }) }, signal),
  }),
  tool({
    name: "preview_artifact",
    description: "A short look at an artifact: both ends of a text, JSON laid out, the size of an image, the files of a diff.",
    readOnly: true,
    input: Type.Object({ artifact_id: Type.String({ minLength: 1, maxLength: 128, description: "of list_artifacts" }) }, strict),
    run: ({ artifact_id }, { daemon, signal }) => daemon.artifactPreview(artifact_id, signal),
  }),
];
