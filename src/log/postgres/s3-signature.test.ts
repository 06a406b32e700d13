import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { signS3 } from "./s3-signature.ts";

/** The examples of "Signature Calculations for the Authorization Header" in the documentation of S3. */
const keys = { accessKeyId: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY" };
const common = { region: "us-east-1", at: new Date("2013-05-24T00:00:00Z") };
const hash = (body: string): string => createHash("sha256").update(body).digest("hex");
const host = "https://examplebucket.s3.amazonaws.com";

it.each([
  [
    "a part of an object",
    { method: "GET", url: new URL(`${host}/test.txt`), headers: { range: "bytes=0-9" }, bodyHash: hash("") },
    "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  ],
  [
    "an object that is put",
    {
      method: "PUT",
      url: new URL(`${host}/test%24file.text`),
      headers: { date: "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY" },
      bodyHash: hash("Welcome to Amazon S3."),
    },
    "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
  ],
  [
    "a query without a value",
    { method: "GET", url: new URL(`${host}/?lifecycle`), headers: {}, bodyHash: hash("") },
    "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
  ],
  [
    "a query with values",
    { method: "GET", url: new URL(`${host}/?max-keys=2&prefix=J`), headers: {}, bodyHash: hash("") },
    "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
  ],
])("signs %s as the documentation does", (_, request, signature) => {
  const headers = signS3({ ...request, ...common } as Parameters<typeof signS3>[0], keys);
  expect(headers.authorization).toContain(`Signature=${signature}`);
  expect(headers.authorization).toContain("Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request");
  expect(headers).not.toHaveProperty("host");
});
