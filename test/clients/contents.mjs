// Contents that are hard to carry: each must arrive in a file byte for byte.
import { dice } from "./upstream/framing.mjs";

const createLarge = () => {
  const roll = dice(42);
  const words = [
    "const",
    "naïve",
    "\t",
    '"quoted"',
    "back\\slash",
    "世界",
    "🐉",
    "'",
    "\r\n",
    "\n",
    "{}",
    "</x>",
    "\u2028",
    "%20",
    "a".repeat(40),
  ];
  let text = "";
  while (text.length < 100 * 1024) text += `${words[roll(words.length)]} `;
  return text;
};

const CONTENTS = [
  "Hello World\n",
  "Grüße, 世界, עברית, 🐉 👩‍👩‍👧‍👦 e\u0301 \u{10ffff}\n",
  `"double" 'single' \`back\` \\ \\\\ \\n \\" $HOME $(id) %s !!\n`,
  "one\r\ntwo\nthree\u2028four\u2029five\u0085six\u000b\u000cno end of line",
  '</tool_call><|im_end|></think><|"|> data: [DONE]\n\ndata: {"a":1}\n\n]]> {{x}} <![CDATA[\n',
  '{"a":[1.0,12345678901234567890,{"b":"}]"}],"c":null}\n',
  "  \n\tindented\n\n\n   ",
];

export const LARGE = createLarge();

/** The content of the n-th file. */
export const contentOf = (n) => CONTENTS[n % CONTENTS.length];
