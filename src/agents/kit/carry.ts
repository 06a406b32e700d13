/** Files that an agent keeps of a session below one folder, found by the pattern of their paths: what `Agent.carry` of most agents is. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Carry, CarryPlace } from "../contract.ts";
import { isNotThere } from "../not-there.ts";

/** Names from the folder down: a name, a pattern of names, or at the end `**`, every file below. */
export type PathPattern = readonly (string | RegExp)[];

/** `patterns`: for a session's id, which is only letters, digits, `-` and `_` and so means only itself in a path or a pattern. */
export const carriedFiles = (
  kept: Carry["kept"],
  folder: (place: CarryPlace) => string,
  patterns: (id: string) => readonly PathPattern[],
): Carry => ({
  kept,
  folder,
  files: async (place) => {
    const id = place.native_session_id;
    if (!/^[\w-]+$/.test(id)) return [];
    return (await Promise.all(patterns(id).map((pattern) => found(folder(place), "", pattern)))).flat();
  },
});

async function found(root: string, at: string, [first, ...rest]: PathPattern): Promise<string[]> {
  const entries = await readdir(join(root, at), { withFileTypes: true }).catch((error: unknown) => {
    if (isNotThere(error)) return [];
    throw error;
  });
  const all = first === "**";
  const files: string[] = [];
  for (const entry of entries) {
    const matches = all || (typeof first === "string" ? entry.name === first : first?.test(entry.name));
    if (!matches) continue;
    const path = join(at, entry.name);
    if (entry.isFile() && (all || rest.length === 0)) files.push(path);
    else if (entry.isDirectory() && (all || rest.length > 0)) files.push(...(await found(root, path, all ? ["**"] : rest)));
  }
  return files;
}
