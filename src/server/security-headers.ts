// Headers of every response, and the content security policies of those a browser may show.

export const securityHeaders: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "x-frame-options": "DENY",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
};

/** The inspector of a daemon that names others: its page may talk to those, and to nobody else. */
export const pagePolicy = (daemons: readonly string[]): string =>
  daemons.length === 0 ? PAGE_POLICY : `${PAGE_POLICY}; connect-src 'self' ${daemons.join(" ")}`;

/** Pages of the daemon itself: nothing from elsewhere, nothing inline. Images an agent points at never leave the machine. */
export const PAGE_POLICY =
  "default-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/** Bytes somebody else wrote: shown, never run. */
export const FOREIGN_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'self'";
