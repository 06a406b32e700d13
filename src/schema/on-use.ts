/** A value that is made when it is first asked for. For validators: to compile all of them would be a third of the daemon's start. */
export function onUse<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
