/**
 * The log as a node of a fleet has it: everybody reads everything, and a session is written only by its owner. Whoever asks for the writer of another node's
 * session is informed. Streams of other kinds belong to who made them.
 */
import type { ListOptions, Log, StreamKind, StreamPage, StreamWriter } from "../log/contract.ts";
import { LogError } from "../log/log-error.ts";
import { toLogError } from "../log/postgres/errors.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import type { FleetNode } from "./fleet-node.ts";

export type FleetLogOptions = {
  node: Pick<FleetNode, "own" | "forget" | "epochOf" | "refused">;
  /** The shared place in which a session of this agent can go on; null when that is on this node alone. */
  placeOf(agent: string, directory: string): string | null;
};

export function fleetLog(log: Log, { node, placeOf }: FleetLogOptions): Log {
  const homeOf = (id: string, state: string): { session_id: string; agent: string; place: string | null } => {
    const { agent = "", directory = "" } = JSON.parse(state) as { agent?: string; directory?: string };
    return { session_id: id, agent, place: placeOf(agent, directory) };
  };
  const create = async (kind: StreamKind, id: string, state: string): Promise<StreamWriter> => {
    if (kind !== "session") return log.create(kind, id, state);
    const owned = await node.own(homeOf(id, state)).catch((error: unknown) => {
      throw toLogError(error, "Making a session known to the fleet");
    });
    if (owned === undefined)
      throw new LogError("stream_exists", `There is already a ${kind} ${id}, or this node takes none now.`, { kind, id });
    try {
      return await log.create(kind, id, state);
    } catch (error) {
      if (error instanceof LogError && error.code === "stream_exists") await node.forget(id);
      throw error;
    }
  };
  const writer = async (kind: StreamKind, id: string): Promise<StreamWriter | undefined> => {
    if (kind !== "session") return log.writer(kind, id);
    if (node.epochOf(id) === undefined) throw new ProblemError("wrong_node", `Session ${id} belongs to another node.`);
    try {
      return await log.writer(kind, id);
    } catch (error) {
      if (error instanceof LogError && error.code === "fenced") node.refused(id);
      throw error;
    }
  };
  const remove = async (kind: StreamKind, id: string, options?: { documents?: readonly string[] }): Promise<boolean> => {
    const removed = await log.delete(kind, id, options);
    if (kind === "session") await node.forget(id);
    return removed;
  };
  /** What was left open is closed by its owner. */
  const list = async (kind: StreamKind, options: ListOptions = {}): Promise<StreamPage> => {
    const page = await log.list(kind, options);
    if (!options.onlyOpen) return page;
    return {
      ...page,
      streams: page.streams.filter(({ id, state }) => node.epochOf(kind === "task" ? sessionOf(state) : id) !== undefined),
    };
  };
  return {
    id: log.id,
    epoch: log.epoch,
    documents: log.documents,
    artifacts: log.artifacts,
    search: log.search,
    beginning: log.beginning,
    create,
    writer,
    delete: remove,
    list,
    stream: (kind, id) => log.stream(kind, id),
    row: (kind, id) => log.row(kind, id),
    erased: () => log.erased(),
    end: () => log.end(),
    assertCursor: (cursor) => log.assertCursor(cursor),
    subscribeAll: (options) => log.subscribeAll(options),
    committed: () => log.committed(),
    assertWritable: () => log.assertWritable(),
    onPressure: (listener) => log.onPressure(listener),
    health: () => log.health(),
    stats: () => log.stats(),
    close: () => log.close(),
  };
}

const sessionOf = (taskState: string): string =>
  (JSON.parse(taskState) as { origin_session_id?: string | null }).origin_session_id ?? "";
