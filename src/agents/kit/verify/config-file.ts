// Writes a file of an agent's configuration, with the folders above it.
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

export async function writeText(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

export const writeJson = (path: string, value: unknown): Promise<void> => writeText(path, `${JSON.stringify(value, null, 2)}\n`);
