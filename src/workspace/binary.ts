/** Whether content is text that can be shown. */
import { isUtf8 } from "node:buffer";

const HEAD_BYTES = 8_000;

/** As git sees it: a zero byte near the beginning; also what is not UTF-8. */
export const isBinary = (content: Buffer): boolean => content.subarray(0, HEAD_BYTES).includes(0) || !isUtf8(content);
