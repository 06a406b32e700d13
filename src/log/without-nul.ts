/** What is asked of a database, or written to it, with the one character that texts there cannot hold replaced. Not here: JSON, where it is escaped. */
export const withoutNul = <Value>(value: Value): Value | string =>
  typeof value === "string" && value.includes("\0") ? value.replaceAll("\0", "\ufffd") : value;
