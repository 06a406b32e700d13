/** Where the daemon's own log lines go. pino's loggers are such; so is anything that has these methods. */

type Write = (fields: object, message: string) => void;

export type Logger = { trace: Write; debug: Write; info: Write; warn: Write; error: Write };

const nothing: Write = () => {};

export const silentLogger: Logger = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing };
