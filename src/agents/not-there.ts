/** Whether a file that an agent keeps is missing, or could only not be looked at. */
const NOT_THERE = new Set(["ENOENT", "ENOTDIR", "ELOOP", "ENXIO", "EACCES", "EPERM"]);

/** Nothing is there that can be carried. Not so when the system only could not look now, because too many files are open or the disk fails: what is kept of it elsewhere is needed then. */
export const isNotThere = (error: unknown): boolean =>
  error instanceof Error && "code" in error && NOT_THERE.has(String(error.code));
