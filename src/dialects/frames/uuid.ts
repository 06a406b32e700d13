/** Ids of frames: uuids. An id that is one stays, one that ends in one (`task_…`) is that; any other has exactly one uuid, the same for every reader and every time (version 5, by name). */
import { createHash } from "node:crypto";

const UUID = /^(?:[a-z]+_)?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/i;
/** Made once for this purpose; changing it changes every id. */
const NAMESPACE = Buffer.from("6f0b2d5c9a4e4c0f8c6e3d1b7a5f9e21", "hex");

export const isUuid = (id: string): boolean => UUID.exec(id)?.[1] === id;

export function uuidOf(id: string): string {
  const own = UUID.exec(id)?.[1];
  if (own !== undefined) return own.toLowerCase();
  const bytes = createHash("sha1").update(NAMESPACE).update(id).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
