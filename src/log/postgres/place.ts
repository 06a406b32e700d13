/** Places in the order of all commits: transaction, chunk in it, event in it. */
export type Place = { xid: bigint; ordinal: bigint; index: number };

const EVENT_BITS = 10n;
/** Copied from another engine, all chunks are in transaction 0, with their positions there. */
const CHUNK_BITS = 44n;

/** A chunk as one number, so that it can be compared. */
export const chunkOf = ({ xid, ordinal }: Pick<Place, "xid" | "ordinal">): bigint => (xid << CHUNK_BITS) | ordinal;

export const numberOf = (place: Place): bigint => (chunkOf(place) << EVENT_BITS) | BigInt(place.index);

export const placeOf = (number: bigint): Place => ({
  xid: number >> (EVENT_BITS + CHUNK_BITS),
  ordinal: (number >> EVENT_BITS) & ((1n << CHUNK_BITS) - 1n),
  index: Number(number & ((1n << EVENT_BITS) - 1n)),
});
