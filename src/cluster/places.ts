/**
 * Shared places of a node: directories that other nodes have too, under the same path. A session that works in one can go on elsewhere, if what its agent
 * keeps is shared or carried, too.
 */

export type Place = { path: string; name: string };

export class Places {
  readonly #places: readonly Place[];
  readonly #goesOn: (agent: string) => boolean;

  /** `goesOn`: whether another node finds what this agent keeps. */
  constructor(places: readonly Place[], goesOn: (agent: string) => boolean = () => true) {
    this.#goesOn = goesOn;
    this.#places = places.map(({ path, name }) => ({ name, path: path.length > 1 ? path.replace(/\/+$/, "") : path }));
  }

  get names(): string[] {
    return [...new Set(this.#places.map(({ name }) => name))];
  }

  /** Null: a session of this agent stays where its directory and its agent's files are. */
  ofSession(agent: string, directory: string): string | null {
    return this.#goesOn(agent) ? this.of(directory) : null;
  }

  /** Null: the directory is this node's alone. The innermost place counts. */
  of(directory: string): string | null {
    const holding = this.#places.filter(({ path }) => directory === path || path === "/" || directory.startsWith(`${path}/`));
    return holding.sort((a, b) => b.path.length - a.path.length)[0]?.name ?? null;
  }
}
