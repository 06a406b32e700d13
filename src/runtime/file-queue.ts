/** One writer a file, in the whole process: sub-agents and sessions share directories. */

const tails = new Map<string, Promise<void>>();

/** Runs when nobody else holds one of these paths. Paths are taken together, so that two callers cannot wait for each other. */
export async function withFiles<T>(paths: readonly string[], work: () => Promise<T>): Promise<T> {
  const wanted = [...new Set(paths)];
  const before = Promise.all(wanted.map((path) => tails.get(path)));
  let release: () => void = () => {};
  const mine = new Promise<void>((resolve) => {
    release = resolve;
  });
  for (const path of wanted) tails.set(path, mine);
  try {
    await before;
    return await work();
  } finally {
    release();
    for (const path of wanted) if (tails.get(path) === mine) tails.delete(path);
  }
}
