/** The version of stored snapshots. A snapshot of another version is not read: the events before it are. Apart, so that a browser needs no schemas for it. */
export const SNAPSHOT_VERSION = 1;
