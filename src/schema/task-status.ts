/** Whether a task is over, for clients too: without the schemas. */
export const isOpen = ({ status }: { status: string }): boolean => status === "queued" || status === "running";
