import type { StreamKind } from "./contract.ts";

/** Ids of documents begin with that of their stream. Sessions came first, and have no word for their kind. */
export const documentPrefix = ({ kind, id }: { kind: StreamKind; id: string }): string =>
  kind === "session" ? `${id}/` : `${kind}:${id}/`;
