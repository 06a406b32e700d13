/** For a region that scrolls: it must be reachable by keyboard, though nothing in it may be. */
export const scrollable = { tabIndex: 0 } as const;
