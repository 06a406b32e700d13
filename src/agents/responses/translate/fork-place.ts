/** The place in the journal up to which a ledger goes: the number of its records, those of received bytes left out. */
import { recordFault } from "../../../runtime/records.ts";
import type { NativeMessage } from "../../contract.ts";
import { isRecord, num } from "../../json.ts";

export async function forkPlace(ledger: AsyncIterable<NativeMessage>): Promise<string | null> {
  let records = 0;
  for await (const { dir, data } of ledger) {
    if (dir !== "out" || !isRecord(data)) continue;
    // A journal may have more than the ledger after a crash: it is counted anew when it is opened again.
    if (data.type === "session.resumed") records = num(data.records) ?? records;
    else if (recordFault(data) === null) records += 1;
  }
  return records === 0 ? null : String(records);
}
