/** The tools that Anthropic defines and its clients run. Calls and results are as for any tool; only the schemas are not declared. */
import type { Json } from "../../core/nouns.ts";
import { arrayOf, type Native, oneOf, parametersOf, TEXT, WHOLE } from "../bridge.ts";
import { entryOf } from "../read.ts";

/** The parameters that the editor and the memory share. */
const FILES = {
  "path?": TEXT,
  "view_range?": arrayOf(WHOLE, 2),
  "file_text?": TEXT,
  "old_str?": TEXT,
  "new_str?": TEXT,
  "insert_line?": WHOLE,
};
const INSERTED = { "insert_text?": TEXT };
const EDIT =
  "create writes file_text; str_replace puts new_str in place of the only old_str; insert puts insert_text after line insert_line";

const editor = (isOld: boolean): Native => ({
  description: `Shows a file, some of its lines (view_range) or a directory, and edits files: ${isOld ? EDIT.replace("insert_text", "new_str") : EDIT}.`,
  parameters: parametersOf({
    command: oneOf(`view create str_replace insert${isOld ? " undo_edit" : ""}`),
    ...FILES,
    ...(isOld ? {} : INSERTED),
  }),
});

/** By the type without its version, a date: `bash` for `bash_20250124`. */
const NATIVES: Readonly<Record<string, (version: string) => Native>> = {
  bash: () => ({
    description: "Runs a command in a bash session that stays open; restart begins a new one.",
    parameters: parametersOf({ "command?": TEXT, "restart?": { type: "boolean" } }),
  }),
  text_editor: (version) => editor(version < "20250429"),
  memory: () => ({
    description: `Files under /memories that outlast this conversation: view that directory first, and note there what will be useful later. ${EDIT}.`,
    parameters: parametersOf({
      command: oneOf("view create str_replace insert delete rename"),
      ...FILES,
      ...INSERTED,
      "old_path?": TEXT,
      "new_path?": TEXT,
    }),
  }),
  computer: () => ({
    description:
      "Uses a computer by mouse and keyboard. A coordinate is [x, y] in pixels, a region [x0, y0, x1, y1]; a key is like ctrl+s.",
    parameters: parametersOf({
      action: oneOf(
        "screenshot left_click right_click middle_click double_click triple_click left_click_drag left_mouse_down left_mouse_up mouse_move scroll type key hold_key cursor_position wait zoom",
      ),
      "coordinate?": arrayOf(WHOLE, 2),
      "start_coordinate?": arrayOf(WHOLE, 2),
      "text?": TEXT,
      "scroll_direction?": oneOf("up down left right"),
      "scroll_amount?": WHOLE,
      "duration?": WHOLE,
      "region?": arrayOf(WHOLE, 4),
    }),
  }),
};

export function nativeOf(type: Json | undefined): Native | undefined {
  const [, kind, version = ""] = /^([a-z_]+)_(\d{8})$/.exec(String(type)) ?? [];
  return entryOf(NATIVES, kind)?.(version);
}
