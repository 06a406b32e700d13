// dragoman: embed the daemon in a program of your own.
export { type Config, readConfig } from "./daemon/config.ts";
export { type Daemon, DaemonError, type DaemonOptions, startDaemon } from "./daemon/daemon.ts";
export { version } from "./daemon/version.ts";
