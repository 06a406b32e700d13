// What `dragoman verify` last found out about an agent, or how to find it out.
import { useEffect, useState } from "react";
import { DragomanError } from "../../../src/client/error.ts";
import type { AgentInfo, VerifyReport, VerifyScenario } from "../../../src/schema/session.ts";
import { daemon, problemText } from "../state/daemon.ts";
import { CopyButton, Notice } from "../ui/controls.tsx";
import { duration } from "../ui/format.ts";
import { Icon } from "../ui/icons.tsx";
import { scrollable } from "../ui/scrollable.ts";

type Found =
  | { state: "asking" }
  | { state: "never" }
  | { state: "failed"; detail: string }
  | { state: "known"; report: VerifyReport };

/** `look` counts up when the reader asks to look again. */
export function VerifyResult({ info, look }: { info: AgentInfo; look: number }) {
  const found = useReport(info, look);
  switch (found.state) {
    case "asking":
      return null;
    case "failed":
      return <Notice kind="error">{found.detail}</Notice>;
    case "never":
      return <Command agent={info.agent} about="Never verified:" />;
    case "known":
      return <Report report={found.report} installed={info.version} />;
  }
}

/** Asked for only where there is one: a report that does not exist is not an error worth a line in the browser's console. */
function useReport({ agent, verified_at }: AgentInfo, look: number): Found {
  const [found, setFound] = useState<Found>({ state: "asking" });
  // biome-ignore lint/correctness/useExhaustiveDependencies: `look` only says that it is time to ask again.
  useEffect(() => {
    if (verified_at === null) return setFound({ state: "never" });
    const gone = new AbortController();
    daemon.verifyReport(agent, gone.signal).then(
      (report) => setFound({ state: "known", report }),
      (error: unknown) => {
        if (gone.signal.aborted) return;
        const never = error instanceof DragomanError && error.code === "never_verified";
        setFound(never ? { state: "never" } : { state: "failed", detail: problemText(error) });
      },
    );
    return () => gone.abort();
  }, [agent, verified_at, look]);
  return found;
}

function Command({ agent, about }: { agent: string; about: string }) {
  const command = `dragoman verify ${agent}`;
  return (
    <div className="verify-command">
      <span className="dim">{about}</span> <code>{command}</code>
      <CopyButton label={`Copy ${command}`} text={() => command} />
    </div>
  );
}

const VERDICTS = ["passed", "failed", "hung", "skipped"] as const;
const day = (iso: string): string => new Date(iso).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });

function Report({ report, installed }: { report: VerifyReport; installed: string | null }) {
  const { totals, version, verified_at, scenarios, problems } = report;
  const outdated = installed !== null && version !== null && installed !== version;
  const faults = totals.failed + totals.hung + problems.length;
  return (
    <section className="verify" aria-label="Verify report">
      <div className="verify-head">
        <Icon name={faults > 0 ? "alert" : "shield"} size={14} />
        <span>
          Verified {version ?? "an unknown version"} · <time dateTime={verified_at}>{day(verified_at)}</time>
        </span>
        {outdated && <span className="tag warn">installed is {installed}</span>}
      </div>
      <ul className="verdicts" aria-label="Verdicts">
        {VERDICTS.filter((verdict) => verdict === "passed" || totals[verdict] > 0).map((verdict) => (
          <li key={verdict} className={verdict}>
            {totals[verdict]} {verdict}
          </li>
        ))}
        {totals.unparsed > 0 && <li className="failed">{totals.unparsed} unparsed</li>}
        {totals.broken > 0 && <li className="failed">{totals.broken} rules broken</li>}
      </ul>
      {problems.map((problem) => (
        <Notice key={problem} kind="warning">
          {problem}
        </Notice>
      ))}
      {scenarios.length > 0 && (
        <details>
          <summary>
            {scenarios.length} {scenarios.length === 1 ? "scenario" : "scenarios"}
          </summary>
          <ul className="scenarios" aria-label="Scenarios" {...scrollable}>
            {scenarios.toSorted(worstFirst).map((each) => (
              <Scenario key={each.scenario} each={each} />
            ))}
          </ul>
        </details>
      )}
      {(outdated || faults > 0) && <Command agent={report.agent} about="Verify it again:" />}
    </section>
  );
}

const RANK = { failed: 0, hung: 1, passed: 2, skipped: 3 } as const;
const worstFirst = (a: VerifyScenario, b: VerifyScenario): number =>
  RANK[a.verdict] - RANK[b.verdict] || b.unparsed + b.broken.length - (a.unparsed + a.broken.length);

function Scenario({ each }: { each: VerifyScenario }) {
  return (
    <li>
      <div className="scenario-line" title={each.title}>
        <span className={`verdict ${each.verdict}`}>{each.verdict}</span>
        <code>{each.scenario}</code>
        <span className="grow" />
        {each.unparsed > 0 && <span className={`tag ${each.verdict === "passed" ? "" : "warn"}`}>{each.unparsed} unparsed</span>}
        {each.verdict !== "skipped" && (
          <span className="dim">
            {each.native} native · {duration(each.duration_ms)}
          </span>
        )}
      </div>
      {[
        ...each.reasons,
        ...each.broken.map(({ rule, sequence, message }) => `${rule} broken at event ${sequence}: ${message}`),
      ].map((reason) => (
        <p key={reason} className="scenario-reason">
          {reason}
        </p>
      ))}
    </li>
  );
}
