/** A schema, or null. What describes the schema describes the whole, so that it is seen where people look for it. */
import Type from "typebox";

export const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()], describing(schema));

const describing = (schema: Type.TSchema): { description?: string } =>
  "description" in schema && typeof schema.description === "string" ? { description: schema.description } : {};
