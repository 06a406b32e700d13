// What a directory would make its agent do: shown where a person decides whether it is trusted, and where a session's settings are listed.
import type { PermissionData } from "../../../src/schema/event-data.ts";
import type { DirectoryFile, TrustRequest } from "../../../src/schema/session.ts";
import { TRUST_TOOL } from "../../../src/schema/trust-tool.ts";
import { Visible } from "../ui/visible.tsx";

/** Null when it is another permission. An agent's tool may have the same name, so the input must fit too. */
export function trustRequest({ metadata }: PermissionData): TrustRequest | null {
  if (metadata.tool_name !== TRUST_TOOL || typeof metadata.input !== "object" || metadata.input === null) return null;
  const { directory, found } = metadata.input as Partial<TrustRequest>;
  return typeof directory === "string" && Array.isArray(found) ? { directory, found } : null;
}

export function TrustDetails({ request }: { request: TrustRequest }) {
  return (
    <div className="trust-details">
      <p>
        The agent would load these files of{" "}
        <code>
          <Visible text={request.directory} />
        </code>{" "}
        and run what they name, with your rights. Trust it only when you know who wrote them. Without trust the agent starts
        without them.
      </p>
      <DirectoryFiles files={request.found} />
    </div>
  );
}

export const DirectoryFiles = ({ files }: { files: readonly (DirectoryFile & { state?: string })[] }) => (
  <ul className="directory-files">
    {files.map((file) => (
      <li key={`${file.path} ${file.kind} ${file.does}`}>
        <code>
          <Visible text={file.path} />
        </code>{" "}
        <span className="tag">{file.kind.replaceAll("_", " ")}</span>
        {file.state && (
          <span className={file.state === "loaded" ? "tag" : "tag held-back"}>{file.state.replaceAll("_", " ")}</span>
        )}{" "}
        <Visible text={file.does} />
      </li>
    ))}
  </ul>
);
