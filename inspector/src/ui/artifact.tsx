/**
 * Bytes of the daemon in the page: fetched with the page's token and shown through a blob, because an address alone carries no token. What could run in the
 * page's origin (HTML, SVG as a document) is only ever saved, never opened.
 */
import { type ReactNode, useEffect, useState } from "react";
import { daemon } from "../state/daemon.ts";

/** Types a browser opens as a document without running anything. */
const OPENED = /^(image\/(png|jpeg|gif|webp|avif)|text\/plain|application\/json)\b/;
const ARTIFACT = /^\/v1\/artifacts\/[\w-]+$/;

export const isArtifact = (path: string): boolean => ARTIFACT.test(path);

/** Undefined while it loads, null when it cannot be read. Given back when the component is gone. */
function useBlobUrl(path: string): string | null | undefined {
  const [url, setUrl] = useState<string | null>();
  useEffect(() => {
    const abort = new AbortController();
    let made: string | undefined;
    fetchBlob(path, abort.signal).then(
      (blob) => {
        if (abort.signal.aborted) return;
        made = URL.createObjectURL(blob);
        setUrl(made);
      },
      () => !abort.signal.aborted && setUrl(null),
    );
    return () => {
      abort.abort();
      if (made !== undefined) URL.revokeObjectURL(made);
    };
  }, [path]);
  return url;
}

export function ArtifactImage({ path, alt }: { path: string; alt: string }) {
  const url = useBlobUrl(path);
  if (url === null) return <span className="blocked-image">image not loaded{alt ? `: ${alt}` : ""}</span>;
  return url === undefined ? <span className="blocked-image">loading image</span> : <img src={url} alt={alt} />;
}

export function ArtifactAudio({ path }: { path: string }) {
  const url = useBlobUrl(path);
  // biome-ignore lint/a11y/useMediaCaption: an agent's sound comes without captions.
  return <audio controls src={url ?? undefined} aria-label="Audio from the agent" />;
}

export const ArtifactLink = ({
  path,
  name,
  className,
  children,
}: {
  path: string;
  name?: string;
  className: string;
  children: ReactNode;
}) => (
  <a
    className={className}
    href={path}
    onClick={(event) => {
      event.preventDefault();
      void openOrSave(path, name ?? path.split("/").at(-1) ?? "artifact");
    }}
  >
    {children}
  </a>
);

async function openOrSave(path: string, name: string): Promise<void> {
  const blob = await fetchBlob(path);
  clickAnchor(blob, (anchor) => {
    if (!OPENED.test(blob.type)) {
      anchor.download = name;
      return;
    }
    anchor.target = "_blank";
    anchor.rel = "noopener noreferrer";
  });
}

/** Saves what a route of the daemon answers. */
export async function download(path: string, name: string): Promise<void> {
  saveBlob(await fetchBlob(path), name);
}

export function saveBlob(blob: Blob, name: string): void {
  clickAnchor(blob, (anchor) => {
    anchor.download = name;
  });
}

async function fetchBlob(path: string, signal?: AbortSignal): Promise<Blob> {
  return (await daemon.http.open("GET", path, signal ? { signal } : {})).blob();
}

const KEPT_MS = 60_000;

function clickAnchor(blob: Blob, prepare: (anchor: HTMLAnchorElement) => void): void {
  const anchor = document.createElement("a");
  anchor.href = URL.createObjectURL(blob);
  prepare(anchor);
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), KEPT_MS);
}
