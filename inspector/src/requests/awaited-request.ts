/** The focus goes to a request the person asked for as soon as its session is shown. To the request, not to one of its buttons: Enter and space must not answer what was not read. */

let awaited: string | null = null;
const forget = (): void => {
  awaited = null;
};

const focusFirst = (): void => document.querySelector<HTMLElement>(".dock .request")?.focus();

/** Until the person does something else. */
export function awaitRequest(session: string): void {
  awaited = session;
  for (const act of ["keydown", "pointerdown"]) addEventListener(act, forget, { once: true, capture: true });
  focusFirst();
}

/** Called whenever the requests of a session come to be on the page: while it loads, more than once. */
export function focusAwaited(session: string): void {
  if (awaited === session) focusFirst();
}
