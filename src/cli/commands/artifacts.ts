// `artifact`: what sessions stored beside their events, a short look at it, and its bytes.
import type { ArtifactPreview, ArtifactQuery } from "../../schema/artifact.ts";
import { type Command, EXIT, flag, need, text, UsageError } from "../command.ts";
import { exact, exactLine } from "../output.ts";
import { save } from "./look.ts";

const KINDS = ["image", "audio", "tool_output", "json", "text", "file"] as const;

export const artifactList: Command = {
  name: "artifact ls",
  usage: "artifact ls [--session <session>]",
  about: "what sessions stored beside their events: images, long outputs, attachments",
  options: {
    session: { type: "string", value: "<session>", about: "only of this session and its tasks" },
    kind: { type: "string", value: "<kind>", about: `only ${KINDS.join(", ")}` },
    "min-bytes": { type: "string", value: "<bytes>", about: "only those that are at least this large" },
    largest: { type: "boolean", about: "the largest first, not the newest" },
    limit: { type: "string", value: "<n>", about: "how many (default 100)" },
  },
  async run({ values, daemon, json, table, print }) {
    const session = text(values, "session");
    const query = queryOf(values);
    const dragoman = await daemon();
    const { artifacts } = await (session === undefined ? dragoman.artifacts(query) : dragoman.session(session).artifacts(query));
    if (flag(values, "json")) {
      for (const each of artifacts) json(each);
      return EXIT.ok;
    }
    if (artifacts.length === 0) print("There are no artifacts.");
    else
      table(
        ["ARTIFACT", "KIND", "BYTES", "NAME", "OF"],
        artifacts.map(({ artifact_id, kind, bytes, name, references }) => [
          artifact_id,
          kind,
          String(bytes),
          exactLine(name ?? ""),
          exactLine(references.map(({ id }) => id).join(", ")),
        ]),
      );
    return EXIT.ok;
  },
};

export const artifactShow: Command = {
  name: "artifact show",
  usage: "artifact show <artifact>",
  about: "preview an artifact: both ends of a text, JSON laid out, the size of an image, the files of a diff",
  options: {},
  async run({ words, values, daemon, json, print }) {
    const preview = await (await daemon()).artifactPreview(idOf(need(words, 0, "the artifact")));
    if (flag(values, "json")) json(preview);
    else for (const line of linesOf(preview)) print(line);
    return EXIT.ok;
  },
};

export const artifactGet: Command = {
  name: "artifact get",
  usage: "artifact get <artifact>",
  about: "the bytes of an artifact, by its id or its path in a content part",
  options: { output: { type: "string", short: "o", value: "<file>", about: "default: stdout" } },
  async run({ words, values, daemon, terminal }) {
    await save(await (await daemon()).artifact(need(words, 0, "the artifact")), text(values, "output"), terminal);
    return EXIT.ok;
  },
};

/** Content parts name it by its path. */
const idOf = (word: string): string => word.replace(/^\/v1\/artifacts\//, "");

function queryOf(values: Parameters<typeof text>[0]): ArtifactQuery {
  const kind = text(values, "kind");
  const known = KINDS.find((one) => one === kind);
  if (kind !== undefined && known === undefined) throw new UsageError(`--kind is one of ${KINDS.join(", ")}`);
  const [least, limit] = [numberOf(values, "min-bytes"), numberOf(values, "limit")];
  return {
    ...(known === undefined ? {} : { kind: known }),
    ...(least === undefined ? {} : { min_bytes: least }),
    ...(limit === undefined ? {} : { limit }),
    ...(flag(values, "largest") ? { order: "largest" as const } : {}),
  };
}

function numberOf(values: Parameters<typeof text>[0], name: string): number | undefined {
  const word = text(values, name);
  if (word === undefined) return undefined;
  if (!/^\d{1,15}$/.test(word)) throw new UsageError(`--${name} is a whole number`);
  return Number(word);
}

function linesOf({ format, bytes, head, tail, left_out, width, height, files }: ArtifactPreview): string[] {
  return [
    `${format}, ${bytes} bytes${width === undefined ? "" : `, ${width} x ${height}`}`,
    ...(files ?? []).map(({ path, added, removed }) => `${exactLine(path)} +${added} -${removed}`),
    ...(head === undefined ? [] : [exact(head)]),
    ...(left_out ? [`… ${left_out} bytes left out …`] : []),
    ...(tail === undefined ? [] : [exact(tail)]),
  ];
}
