"""The tokenizer: SentencePiece's kind, as llama.cpp runs it. Control tokens, 256 bytes, the characters of ASCII, and pieces of letter
runs. Blanks, digits and punctuation are tokens of their own, and no piece crosses from a small letter to a capital, so that `London` or
`file` are the same tokens in a request, in a name (`get_file`, `getFile`) and in an argument.

    python3 tokenizer.py --train 60000       # learns vocab.txt from the generator's conversations
"""
import argparse
import re
from collections import Counter
from pathlib import Path

BASE = ["<pad>", "<eos>", "<bos>", "<unk>"]
CONTROL = [
    "<start_of_turn>", "<end_of_turn>", "<start_function_declaration>", "<end_function_declaration>", "<start_function_call>",
    "<end_function_call>", "<start_function_response>", "<end_function_response>", "<escape>",
    "<|turn>", "<turn|>", "<|channel>", "<channel|>", "<|think|>", "<|tool>", "<tool|>", "<|tool_call>", "<tool_call|>",
    "<|tool_response>", "<tool_response|>", '<|"|>',
]
VISIBLE = {"<|channel>", "<channel|>", "<|tool_call>", "<tool_call|>", "<|tool_response>", "<tool_response|>", '<|"|>'}
"""Of these, what llama.cpp's own files of Gemma 4 write out as text, so that its server finds calls."""
ASCII = ["\n", "\t"] + [chr(code) for code in range(33, 127)]
SPACE = "\u2581"
PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
SPLIT = re.compile("(" + "|".join(re.escape(token) for token in BASE + CONTROL) + r")|([A-Za-z]+)|(.)", re.DOTALL)
VOCAB = Path(__file__).parent / "vocab.txt"
NORMAL, UNKNOWN, CONTROL_TYPE, USER_DEFINED, BYTE = 1, 2, 3, 4, 6


class Tokenizer:
    def __init__(self, pieces):
        self.pieces = pieces
        self.tokens = BASE + CONTROL + [f"<0x{byte:02X}>" for byte in range(256)] + [SPACE] + ASCII + pieces
        self.ids = {token: i for i, token in enumerate(self.tokens)}
        self.rank = {piece: i for i, piece in enumerate(pieces)}
        self.byte0 = len(BASE) + len(CONTROL)
        self.special = {token: self.ids[token] for token in BASE + CONTROL}
        self.cache = {" ": [self.ids[SPACE]]}
        self.stops = [self.ids[token] for token in ("<eos>", "<end_of_turn>", "<start_function_response>", "<turn|>", "<|tool_response>")]

    @classmethod
    def load(cls, path=VOCAB):
        return cls(Path(path).read_text().split())

    def __len__(self):
        return len(self.tokens)

    def encode(self, text):
        ids, cache = [], self.cache
        for special, letters, char in SPLIT.findall(text):
            if special:
                ids.append(self.special[special])
                continue
            run = letters or char
            known = cache.get(run)
            if known is None:
                known = self.merge(run) if letters else self.char(char)
                if len(cache) < 400_000:
                    cache[run] = known
            ids += known
        return ids

    def char(self, char):
        if char in self.ids:
            return [self.ids[char]]
        return [self.byte0 + byte for byte in char.encode()]

    def merge(self, run):
        """The best pair first, the leftmost of equals, as SentencePiece does."""
        parts, rank = list(run), self.rank
        while len(parts) > 1:
            best = min((rank.get(parts[i] + parts[i + 1], 1 << 30), i) for i in range(len(parts) - 1))
            if best[0] == 1 << 30:
                break
            i = best[1]
            parts[i:i + 2] = [parts[i] + parts[i + 1]]
        return [self.ids[part] for part in parts]

    def decode(self, ids):
        out = bytearray()
        for i in ids:
            if self.byte0 <= i < self.byte0 + 256:
                out.append(i - self.byte0)
            else:
                out += self.tokens[i].replace(SPACE, " ").encode()
        return out.decode(errors="replace")

    def types(self):
        special = [USER_DEFINED if token in VISIBLE else CONTROL_TYPE for token in BASE + CONTROL]
        special[3] = UNKNOWN
        return special + [BYTE] * 256 + [NORMAL] * (len(self) - self.byte0 - 256)

    def scores(self):
        first = len(self) - len(self.pieces)
        return [0.0] * first + [-float(rank + 1) for rank in range(len(self.pieces))]


def learn(counts, size):
    """Byte pair encoding over words with their counts."""
    words = [(list(word), count) for word, count in counts.items()]
    pieces, pairs, where = [], Counter(), {}
    for w, (parts, count) in enumerate(words):
        for pair in zip(parts, parts[1:]):
            pairs[pair] += count
            where.setdefault(pair, set()).add(w)
    while len(pieces) < size and pairs:
        (left, right), _ = max(pairs.items(), key=lambda item: (item[1], item[0]))
        piece = left + right
        if not PIECE.fullmatch(piece):
            del pairs[(left, right)]
            continue
        if piece not in pieces:
            pieces.append(piece)
        for w in where.pop((left, right)):
            parts, count = words[w]
            for pair in zip(parts, parts[1:]):
                pairs[pair] -= count
            i = 0
            while i < len(parts) - 1:
                if parts[i] == left and parts[i + 1] == right:
                    parts[i:i + 2] = [piece]
                i += 1
            for pair in zip(parts, parts[1:]):
                pairs[pair] += count
                where.setdefault(pair, set()).add(w)
        pairs.pop((left, right), None)
    return pieces


def main():
    from generate import Generator

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--train", type=int, required=True, help="conversations to learn from")
    parser.add_argument("--size", type=int, default=5120)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    generator, counts = Generator(options.seed), Counter()
    strip = re.compile("|".join(re.escape(token) for token in BASE + CONTROL))
    for _ in range(options.train):
        for text, _model in generator.conversation()["spans"]:
            counts.update(PIECE.findall(strip.sub(" ", text)))
    # Frequent words count less than they occur, for the pieces are for words never seen; what occurs a few times only is made up.
    flat = {word: count**0.6 for word, count in counts.items() if count > options.train // 4000}
    for word in [word for word in flat if word.islower()]:
        flat[word.capitalize()] = flat.get(word.capitalize(), 0) + flat[word] * 0.15
    room = options.size - len(BASE) - len(CONTROL) - 256 - 1 - len(ASCII)
    VOCAB.write_text("".join(piece + "\n" for piece in learn(flat, room)))


if __name__ == "__main__":
    main()
