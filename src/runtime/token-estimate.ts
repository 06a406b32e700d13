/** Tokens of a text, estimated where no provider has counted them: four bytes each. It errs on the safe side for code and is only used between two counts. */
export const estimateTokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4);
