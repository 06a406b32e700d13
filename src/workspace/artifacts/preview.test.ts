import { deflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { diffstat } from "./diffstat.ts";
import { imageSize } from "./image-size.ts";
import { previewOf } from "./preview.ts";

let read: number;
const preview = (bytes: Buffer | string, mime = "application/octet-stream") => {
  const all = Buffer.from(bytes);
  read = 0;
  return previewOf({
    artifact_id: "art_1",
    bytes: all.length,
    mime,
    read: async (start, end) => {
      read += end - start + 1;
      return all.subarray(start, end + 1);
    },
  });
};

const png = (width: number, height: number): Buffer => {
  const chunk = (type: string, data: Buffer) => Buffer.concat([u32(data.length), Buffer.from(type, "latin1"), data, u32(0)]);
  return Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    chunk("IHDR", Buffer.concat([u32(width), u32(height), Buffer.from([8, 2, 0, 0, 0])])),
    chunk("IDAT", deflateSync(Buffer.alloc(10))),
  ]);
};
const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

describe("the preview of an artifact", () => {
  it("of a short text is all of it; of a long one two kilobytes of each end, in whole characters", async () => {
    expect(await preview("hello")).toEqual({ artifact_id: "art_1", bytes: 5, format: "text", head: "hello" });
    expect(await preview("")).toMatchObject({ format: "text", head: "" });
    const long = `x${"€".repeat(400_000)}`;
    const shown = await preview(long);
    expect(shown.format).toBe("text");
    expect(shown.head).toMatch(/^x€+$/);
    expect(shown.tail).toMatch(/^€+$/);
    const [head, tail] = [Buffer.byteLength(shown.head ?? ""), Buffer.byteLength(shown.tail ?? "")];
    expect([head, tail].every((size) => size > 2_040 && size <= 2_048)).toBe(true);
    expect(head + tail + (shown.left_out ?? 0)).toBe(Buffer.byteLength(long));
    expect(read).toBeLessThan(300 * 1024);
  });

  it("lays out JSON, also a large one, and takes what only looks like it as text", async () => {
    expect(await preview('{"a":[1,2]}')).toMatchObject({ format: "json", head: '{\n  "a": [\n    1,\n    2\n  ]\n}' });
    expect(await preview(JSON.stringify(Array(200_000).fill(7)))).toMatchObject({ format: "json", left_out: expect.any(Number) });
    expect(await preview("{ not json")).toMatchObject({ format: "text", head: "{ not json" });
  });

  it("of a diff counts lines by file, in hunks alone", async () => {
    const diff = [
      "diff --git a/x.txt b/x.txt",
      "--- a/x.txt",
      "+++ b/x.txt",
      "@@ -1,3 +1,3 @@",
      " same",
      "--- looks like a header",
      "+++ and so does this",
      " same",
      "--- a/gone.txt",
      "+++ /dev/null",
      "@@ -1 +0,0 @@",
      "-gone",
      "\\ No newline at end of file",
    ].join("\n");
    expect(diffstat(diff)).toEqual([
      { path: "x.txt", added: 1, removed: 1 },
      { path: "gone.txt", added: 0, removed: 1 },
    ]);
    expect(await preview(diff)).toMatchObject({ format: "diff", files: [{ path: "x.txt" }, { path: "gone.txt" }] });
  });

  it("of an image says its size, whatever it is called; of other bytes that they are bytes", async () => {
    expect(await preview(png(640, 480))).toMatchObject({ format: "image", width: 640, height: 480 });
    const gif = Buffer.from("474946383961" + "0300" + "0500" + "000000", "hex");
    expect(imageSize(gif)).toEqual({ width: 3, height: 5 });
    const jpeg = Buffer.from(`ffd8ffe000104a46494600010100000100010000ffc0001108${"0010"}${"0020"}03011100`, "hex");
    expect(imageSize(jpeg)).toEqual({ width: 32, height: 16 });
    const webp = Buffer.concat([
      Buffer.from("RIFF"),
      u32(0),
      Buffer.from("WEBPVP8X"),
      u32(0),
      u32(0),
      Buffer.from("630000310000", "hex"),
    ]);
    expect(imageSize(webp)).toEqual({ width: 100, height: 50 });
    expect(await preview(Buffer.from("89504e47", "hex"), "image/png")).toMatchObject({ format: "image" });
    expect(await preview(Buffer.from([0, 1, 2, 3]))).toMatchObject({ format: "binary" });
    for (let cut = 0; cut < jpeg.length; cut++) expect(() => imageSize(jpeg.subarray(0, cut))).not.toThrow();
  });
});
