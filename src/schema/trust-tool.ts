/**
 * The name by which clients recognise the daemon's own permission request. Apart from the schemas, so that the command line and the inspector load none.
 */

/** `tool_name` of the request whether a directory is trusted. Its input is `TrustRequest`. */
export const TRUST_TOOL = "directory";
