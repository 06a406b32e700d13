// What a validator found, in words for people.

type Found = { instancePath: string; message: string; keyword?: string; params?: object };
export type Fault = { path: string; message: string };

/** `path`: a JSON pointer, "" for the value itself. */
export function faultsOf(found: readonly Found[]): Fault[] {
  // "schema is false" is said of each unknown field, beside the fault that names them all.
  const told = found.filter(({ keyword }) => keyword !== "boolean");
  return told.map((fault) => ({ path: fault.instancePath, message: messageOf(fault) }));
}

function messageOf({ message, params }: Found): string {
  const { additionalProperties, requiredProperties, allowedValues } = (params ?? {}) as Partial<
    Record<string, readonly unknown[]>
  >;
  if (additionalProperties) return `has unknown fields: ${additionalProperties.join(", ")}`;
  if (requiredProperties) return `lacks required fields: ${requiredProperties.join(", ")}`;
  if (allowedValues) return `must be one of: ${allowedValues.join(", ")}`;
  return message;
}
