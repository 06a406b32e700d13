/** First messages that were not taken, by session: the composer gives the words back. */
export const failedStart = new Map<string, { text: string; detail: string }>();
