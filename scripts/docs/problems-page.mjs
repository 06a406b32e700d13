// docs/problems.md: every error code of the API.
import { problemCodes } from "../../build/schema/problem-codes.js";

export function problemsPage() {
  const rows = Object.entries(problemCodes).map(
    ([code, { status, title, advice }]) => `| \`${code}\` | ${status} | ${title} | ${advice} |`,
  );
  return `# Error codes

Every error of the API is \`application/problem+json\` (RFC 9457) with a stable \`code\` and a \`detail\` that says what to do. The command line and the
client show the same code. This page is made from \`src/schema/problem-codes.ts\` by \`node scripts/docs.mjs\`.

| code | status | meaning | what to do |
| --- | ---: | --- | --- |
${rows.join("\n")}
`;
}
