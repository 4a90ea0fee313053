/** Which model, and where it is: what `dragoman serve` and `dragoman chat` are asked alike. */
import { type Command, Option } from "commander";
import { KNOWN } from "../engines/known.ts";
import { listWires } from "../wires/registry.ts";
import { readCount, readDialectSetting } from "./input.ts";

/** `otherwise`: what is taken without `--upstream`. */
export const addModelOptions = (command: Command, otherwise: string): Command =>
  command
    .option("--upstream <url or name>", `where the model is: a URL, or one of ${Object.keys(KNOWN).join(", ")}; without it, ${otherwise}`)
    .addOption(
      new Option("--upstream-wire <wire>", "what the upstream speaks, or completions; without it, that is found out").choices([
        ...listWires().map(({ id }) => id),
        "completions",
      ]),
    )
    .option("--upstream-key <env:NAME>", "the variable that has the upstream's key")
    .option(
      "--model <name or file>",
      "the one model that answers: a name that the upstream knows; or one to run here: a GGUF, its URL, hf:owner/repo[:quant], embedded",
    )
    .option("--gpu [kind]", "run the model on the GPU and nowhere else: metal, cuda, vulkan, or any (default: if there is one)")
    .option("--no-gpu", "run it on the CPU")
    .option("--context <tokens>", "how long a conversation with the model may be", readCount)
    .option(
      "--dialect <id>",
      "what it speaks, with a variant behind it or not (hermes, hermes/qwen2.5-7b-instruct); without it, what its file or its server says",
      readDialectSetting,
    );
