/**
 * Where this package is installed. Programs of ours and files that are read at run time are found from there: the code itself may run from `src/`, from a
 * file of `dist/`, or from a bundled one. Not here: paths of the user's machine.
 */
// Asked for at run time, not imported: a bundler that builds for browsers has nothing to resolve here.
const { existsSync } = process.getBuiltinModule("node:fs");

/** The nearest folder above this file that has a package.json. Ends with a slash. */
export const packageRoot: URL = rootFrom(new URL(".", import.meta.url));

/** A file or folder that the build makes, whether this runs from the sources or built. */
export const builtFile = (path: string): URL => new URL(`dist/${path}`, packageRoot);

function rootFrom(folder: URL): URL {
  if (existsSync(new URL("package.json", folder))) return folder;
  const above = new URL("..", folder);
  if (above.href === folder.href) throw new Error("The package.json of dragoman is missing. Install the package again.");
  return rootFrom(above);
}
