/** The initial content of the page's editors. */

const TOOLS = [
  {
    name: "get_weather",
    description: "Current weather",
    parameters: { type: "object", properties: { city: { type: "string" }, days: { type: "integer" } }, required: ["city"] },
  },
];

export const CALL = { id: "call_0", name: "get_weather", arguments: { city: "Oslo", days: 2 } };
export const TOOLS_JSON = JSON.stringify(TOOLS, undefined, 2);

export const REQUEST_JSON = JSON.stringify(
  {
    model: "any",
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "How is the weather in Oslo?" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: CALL.id, type: "function", function: { name: CALL.name, arguments: JSON.stringify(CALL.arguments) } }],
      },
      { role: "tool", tool_call_id: CALL.id, content: "4 °C" },
    ],
    tools: TOOLS.map((tool) => ({ type: "function", function: tool })),
  },
  undefined,
  2,
);
