// Stands in for src/package-root.ts in this package: `start()` runs the daemon that is installed beside the client.
export function builtFile(path) {
  try {
    return new URL(path, import.meta.resolve("dragoman"));
  } catch (error) {
    throw new Error("start() needs the package dragoman beside dragoman-client: npm install dragoman. connect() does not.", {
      cause: error,
    });
  }
}
