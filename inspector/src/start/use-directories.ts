/** Directories to choose from: those of recent sessions, and while one types, those of the daemon's machine that go on like it. */
import { useEffect, useMemo, useState } from "react";
import { daemon } from "../state/daemon.ts";

const REST_MS = 120;

export function useDirectories(recent: readonly string[]): {
  options: readonly string[];
  free: { placeholder: string; suggest(typed: string): void };
} {
  const [typed, setTyped] = useState("");
  const [found, setFound] = useState<readonly string[]>([]);
  useEffect(() => {
    if (!/^[~/]/.test(typed)) return setFound([]);
    const gone = new AbortController();
    const timer = setTimeout(() => {
      daemon.directories(typed, gone.signal).then(setFound, () => {});
    }, REST_MS);
    return () => {
      clearTimeout(timer);
      gone.abort();
    };
  }, [typed]);
  const free = useMemo(() => ({ placeholder: "Path on the daemon's machine", suggest: setTyped }), []);
  return { options: [...new Set([...found, ...recent])], free };
}
