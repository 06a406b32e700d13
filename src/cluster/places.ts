/** Shared places of a node: directories that other nodes have too, under the same path, together with the agents' own stores. A session that works in one can go on elsewhere. */

export type Place = { path: string; name: string };

export class Places {
  readonly #places: readonly Place[];

  constructor(places: readonly Place[]) {
    this.#places = places.map(({ path, name }) => ({ name, path: path.length > 1 ? path.replace(/\/+$/, "") : path }));
  }

  get names(): string[] {
    return [...new Set(this.#places.map(({ name }) => name))];
  }

  /** Null: the directory is this node's alone. The innermost place counts. */
  of(directory: string): string | null {
    const holding = this.#places.filter(({ path }) => directory === path || path === "/" || directory.startsWith(`${path}/`));
    return holding.sort((a, b) => b.path.length - a.path.length)[0]?.name ?? null;
  }
}

/** `/repos=efs-1`. Throws what is wrong with it. */
export function placeFrom(text: string): Place {
  const [, path, name] = /^(\/[^=]*)=([\w.-]+)$/.exec(text) ?? [];
  if (path === undefined || name === undefined)
    throw new Error(`A place is written /directory=name, not ${JSON.stringify(text)}.`);
  return { path, name };
}
