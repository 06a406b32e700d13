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
  if (/^\/ui\/assets\/[^/]+-[\w-]{8}\.\w+$/.test(pathname)) event.respondWith(fromCache(request));
  else if (request.mode === "navigate" && pathname.startsWith(SHELL)) event.respondWith(shell(request));
});

async function fromCache(request) {
  const cache = await caches.open(KEPT);
  const known = await cache.match(request);
  if (known) return known;
  const answer = await fetch(request);
  if (answer.ok) await cache.put(request, answer.clone());
  return answer;
}

/** The newest page there is; without the daemon the last one that was. */
async function shell(request) {
  const cache = await caches.open(KEPT);
  try {
    const answer = await fetch(request);
    if (answer.ok) await cache.put(SHELL, answer.clone());
    return answer;
  } catch (error) {
    const known = await cache.match(SHELL);
    if (known) return known;
    throw error;
  }
}
