// MCP elicitation in the CLI's words.
import { type JsonRecord, str } from "../../json.ts";
import { readForm } from "../../kit/forms.ts";

export const elicitationForm = (request: JsonRecord) =>
  readForm({
    message: str(request.message) ?? "An MCP server asks for input.",
    schema: request.requested_schema,
    header: str(request.mcp_server_name),
    url: str(request.url),
    order: request.property_order,
  });
