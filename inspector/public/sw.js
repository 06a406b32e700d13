/**
 * Keeps the page's own files, so that an installed page opens at once, and says that the daemon is away when it is. Only files of the build are kept: they are
 * named after their content. Nothing of a session, and no request with a token, ever passes through here.
 */
const KEPT = "dragoman-files-1";
const SHELL = "/ui/";

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => {
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter((name) => name !== KEPT).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  );
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== self.location.origin) return;
  if (/^\/ui\/assets\/[^/]+-[\w-]{8}\.\w+$/.test(pathname)) event.respondWith(fromCache(event));
  else if (request.mode === "navigate" && pathname.startsWith(SHELL)) event.respondWith(shell(event));
});

// The browser's store may be full, slow or broken: the page never waits for what is written to it, and opens without it.
const known = (key) =>
  caches
    .open(KEPT)
    .then((cache) => cache.match(key))
    .catch(() => undefined);

function keep(event, key, answer) {
  if (!answer.ok) return;
  const copy = answer.clone();
  event.waitUntil(
    caches
      .open(KEPT)
      .then((cache) => cache.put(key, copy))
      .catch(() => {}),
  );
}

async function fromCache(event) {
  const found = await known(event.request);
  if (found) return found;
  const answer = await fetch(event.request);
  keep(event, event.request, answer);
  return answer;
}

/** The newest page there is; without the daemon the last one that was. */
async function shell(event) {
  try {
    const answer = await fetch(event.request);
    keep(event, SHELL, answer);
    return answer;
  } catch (error) {
    const found = await known(SHELL);
    if (found) return found;
    throw error;
  }
}
