// Files dropped, pasted or chosen, as the API takes them.
import type { AttachmentInput } from "../../../src/schema/session.ts";
import { uniqueId } from "../ui/browser.ts";

export type Attached = { id: string; name: string; mime: string; size: number; data: string };

export const LARGEST_FILE = 20 * 1024 * 1024;

export async function attach(file: File): Promise<Attached> {
  if (file.size > LARGEST_FILE) throw new Error(`${file.name} is larger than 20 MB.`);
  const data = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^data:[^,]*,/, ""));
    reader.onerror = () => reject(reader.error ?? new Error(`${file.name} cannot be read.`));
    reader.readAsDataURL(file);
  });
  return {
    id: uniqueId(),
    name: file.name || "pasted",
    mime: file.type || "application/octet-stream",
    size: file.size,
    data,
  };
}

export const toInput = ({ name, mime, data }: Attached): AttachmentInput => ({ name, mime, data });
