/** Tools for the files in one folder: `createChat({ engine, tools: fileTools("./notes") })`. */
import { Sandbox } from "./sandbox.ts";
import { type ChatTool, defineTool } from "./tool.ts";

/** Tools that list, read and write the files of this folder, and of no other. */
export function fileTools(folder: string): ChatTool[] {
  const sandbox = new Sandbox(folder);
  return [
    defineTool({
      name: "list_files",
      description: "List the files of the folder.",
      parameters: { type: "object", properties: { path: { type: "string", description: "A folder in it; by default all of it" } } },
      readOnly: true,
      run: async ({ path }) => ({ files: await sandbox.list(path) }),
    }),
    defineTool({
      name: "read_file",
      description: "Read a text file of the folder.",
      parameters: { type: "object", properties: { path: { type: "string", description: "Path of the file" } }, required: ["path"] },
      readOnly: true,
      run: async ({ path }) => ({ content: await sandbox.read(path) }),
    }),
    defineTool({
      name: "write_file",
      description: "Write a text file into the folder. A file that is there is replaced.",
      parameters: {
        type: "object",
        properties: {
          path: { type: "string", description: "Path of the file" },
          content: { type: "string", description: "Text of the file" },
        },
        required: ["path", "content"],
      },
      run: ({ path, content }) => sandbox.write(path, content),
    }),
  ];
}
