/** Variables of the daemon itself, by which it recognises its agents. Neither requests nor agents may set them for a process. */
export const OWN_PREFIX = "DRAGOMAN_";

export const withoutOwn = (env: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith(OWN_PREFIX)));
