// Unsent words of each session: switching sessions must not lose them.
const drafts = new Map<string, string>();
export const draftOf = (session: string): string => drafts.get(session) ?? "";
export const keepDraft = (session: string, text: string): void =>
  void (text ? drafts.set(session, text) : drafts.delete(session));
