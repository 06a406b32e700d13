/** The list of artifacts in memory: chosen, ordered and paged as the contract says. */
import type { ArtifactInfo, ArtifactListOptions, ArtifactOwner, ArtifactPage } from "../contract.ts";

type Owned = { info: ArtifactInfo; streams: ReadonlySet<ArtifactOwner> };

export const ownersOf = (found: Owned | undefined): ArtifactOwner[] =>
  [...(found?.streams ?? [])].map(({ kind, id }) => ({ kind, id }));

export function listArtifacts(all: readonly Owned[], options: ArtifactListOptions = {}): ArtifactPage {
  const { order = "newest", limit = 100, min_bytes = 0, kind, of, before } = options;
  const by = order === "newest" ? "created_at" : "bytes";
  const [mark, id] = before?.split(".") ?? [];
  const fits = ({ info, streams }: Owned): boolean =>
    info.bytes >= min_bytes &&
    (kind === undefined || info.kind === kind) &&
    (of === undefined || of.some((owner) => [...streams].some((one) => one.kind === owner.kind && one.id === owner.id))) &&
    (mark === undefined || info[by] < Number(mark) || (info[by] === Number(mark) && info.artifact_id < (id ?? "")));
  const found = all.filter(fits).sort(({ info: a }, { info: b }) => b[by] - a[by] || (a.artifact_id < b.artifact_id ? 1 : -1));
  const shown = found.slice(0, limit);
  const last = shown.at(-1)?.info;
  return {
    artifacts: shown.map((one) => ({ ...one.info, owners: ownersOf(one) })),
    next: found.length > limit && last ? `${last[by]}.${last.artifact_id}` : null,
  };
}
