// Path and query parameters that several routes share.
import Type from "typebox";
import type { Log, Stream } from "../../log/contract.ts";
import { ProblemError } from "../../schema/problem-codes.ts";
import { isImporting } from "../../session/import-mark.ts";
import type { FleetPort, NodeWish } from "../fleet-port.ts";

const LABEL = "[^=,]{1,64}=[^,]{0,128}";

export const SessionPath = Type.Object({ id: Type.String({ description: "Id of the session.", minLength: 1, maxLength: 128 }) });

export const EncodingQuery = {
  types: Type.Optional(
    Type.Union([Type.String(), Type.Array(Type.String())], {
      description: "only these event types, separated by commas; in a dialect also its own types",
    }),
  ),
  include_raw: Type.Optional(Type.Boolean({ description: "with the native message each event was made from" })),
  dialect: Type.Optional(Type.String({ description: "another wire format for the events" })),
  version: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 99, description: "of the dialect, where it has several; default the newest" }),
  ),
};

/** In a fleet: what is on some nodes only. */
export const NodeQuery = {
  node: Type.Optional(
    Type.String({ minLength: 1, maxLength: 128, description: "in a fleet: only sessions that this node owns, and their tasks" }),
  ),
  label: Type.Optional(
    Type.String({
      pattern: `^${LABEL}(,${LABEL}){0,15}$`,
      description:
        "in a fleet: only sessions on nodes with this label, `zone=a`; with several, separated by commas, on those that have all",
    }),
  ),
};

/** Null: no node is meant. Throws `no_fleet` where there is no fleet: an unfiltered answer would look like a filtered one. */
export function nodeWish(
  { node, label }: { node?: string | undefined; label?: string | undefined },
  fleet: FleetPort | undefined,
): (NodeWish & { fleet: FleetPort }) | null {
  if (node === undefined && label === undefined) return null;
  if (!fleet) throw new ProblemError("no_fleet");
  const labels = Object.fromEntries(
    label?.split(",").map((each) => [each.slice(0, each.indexOf("=")), each.slice(each.indexOf("=") + 1)]) ?? [],
  );
  return { fleet, labels, ...(node === undefined ? {} : { node }) };
}

export const Sequence = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

/** The stream of a session, without loading the session: history can be read whatever became of its agent. */
export async function sessionStream(log: Log, id: string): Promise<Stream> {
  const stream = await log.stream("session", id);
  // A row that cannot be read hides nothing: the events can be.
  const row = await stream?.row().catch(() => undefined);
  if (!stream || (row && isImporting(row.state)))
    throw new ProblemError("session_not_found", `There is no session ${JSON.stringify(id)}. List them with GET /v1/sessions.`);
  return stream;
}
