"""The model: Gemma 3's architecture (norms before and behind each part, norms on queries and keys, rotary positions, gated GELU, tied
embeddings), small. Tokens of many conversations lie flat in one row; attention is told where each begins.
"""
import math

import torch
import torch.nn.functional as F

from shape import SHAPE

MATRICES = ("wq", "wk", "wv", "wo", "gate", "up", "down")


class Tiny(torch.nn.Module):
    def __init__(self, shape=SHAPE):
        super().__init__()
        self.shape = shape
        d, layers, q, kv, hidden = shape["width"], shape["layers"], shape["heads"] * shape["head"], shape["kv_heads"] * shape["head"], shape["hidden"]

        def matrix(rows, columns):
            return torch.nn.Parameter(torch.randn(layers, rows, columns) / math.sqrt(columns))

        def gain(size, start=1.0):
            return torch.nn.Parameter(torch.full((layers, size), start))

        self.embed = torch.nn.Parameter(torch.randn(shape["vocab"], d) / math.sqrt(d))
        self.attn_norm, self.post_attn_norm, self.ffn_norm, self.post_ffn_norm = gain(d), gain(d, 0.5), gain(d), gain(d, 0.5)
        self.q_norm, self.k_norm = gain(shape["head"]), gain(shape["head"])
        self.wq, self.wk, self.wv, self.wo = matrix(q, d), matrix(kv, d), matrix(kv, d), matrix(d, q)
        self.gate, self.up, self.down = matrix(hidden, d), matrix(hidden, d), matrix(d, hidden)
        self.out_norm = torch.nn.Parameter(torch.ones(d))
        self.fast = False

    def rounded(self, name):
        """A matrix with the values that it has in the file, q5_0; its gradient goes to the exact one."""
        exact = getattr(self, name)
        with torch.no_grad():
            blocks = exact.reshape(-1, 32)
            largest = blocks.gather(1, blocks.abs().argmax(1, keepdim=True))
            scale = (largest / -16).half().float()
            levels = (blocks / torch.where(scale == 0, 1.0, scale) + 16.5).floor().clamp_(0, 31)
            shift = ((levels - 16) * scale).view_as(exact) - exact
        return exact + shift

    def hidden(self, tokens, positions, attend):
        """The last hidden states of a flat row of tokens."""
        shape = self.shape
        half = shape["head"] // 2
        angles = positions[:, None].float() * shape["base"] ** (-torch.arange(half, device=tokens.device) / half)
        cos, sin = angles.cos()[:, None], angles.sin()[:, None]
        x = F.embedding(tokens, self.embed) * math.sqrt(shape["width"])
        before, behind = (fast_before, fast_behind) if self.fast else (before_attention, behind_attention)
        names = ("attn_norm", "wq", "wk", "wv", "q_norm", "k_norm", "wo", "post_attn_norm", "ffn_norm", "gate", "up", "down", "post_ffn_norm")
        for an, wq, wk, wv, qn, kn, wo, pan, fn, g, u, dn, pfn in zip(*((self.rounded(name) if name in MATRICES else getattr(self, name)).unbind(0) for name in names)):
            q, k, v = before(x, an, wq, wk, wv, qn, kn, cos, sin)
            x = behind(x, attend(q, k, v), wo, pan, fn, g, u, dn, pfn)
        return x

    def logits(self, x):
        return norm(x, self.out_norm).to(torch.bfloat16) @ self.embed.to(torch.bfloat16).T


def norm(x, gain):
    x = x.float()
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * gain


def linear(x, weight):
    return x.to(torch.bfloat16) @ weight.to(torch.bfloat16).T


def rotate(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


def before_attention(x, attn_norm, wq, wk, wv, q_norm, k_norm, cos, sin):
    size = q_norm.shape[0]
    mixed = linear(norm(x, attn_norm), torch.cat((wq, wk, wv))).view(x.shape[0], -1, size)
    q, k, v = mixed.split([w.shape[0] // size for w in (wq, wk, wv)], 1)
    return rotate(norm(q, q_norm), cos, sin).to(torch.bfloat16), rotate(norm(k, k_norm), cos, sin).to(torch.bfloat16), v.contiguous()


def behind_attention(x, attended, wo, post_attn_norm, ffn_norm, gate, up, down, post_ffn_norm):
    x = x + norm(linear(attended.reshape(x.shape[0], -1), wo), post_attn_norm)
    g, u = linear(norm(x, ffn_norm), torch.cat((gate, up))).chunk(2, -1)
    return x + norm(linear(F.gelu(g, approximate="tanh") * u, down), post_ffn_norm)


def loss_of(x, out_norm, embed, targets, weights):
    logits = (norm(x, out_norm).to(torch.bfloat16) @ embed.to(torch.bfloat16).T).float()
    each = F.cross_entropy(logits, targets, reduction="none")
    return (each * weights).sum() / weights.sum(), each


fast_before, fast_behind, fast_loss = before_attention, behind_attention, loss_of


def compile_parts():
    global fast_before, fast_behind, fast_loss
    fast_before, fast_behind, fast_loss = (torch.compile(part, dynamic=False) for part in (before_attention, behind_attention, loss_of))
    return fast_loss


def varlen(offsets, longest):
    """Attention within each of the conversations that lie in a row."""
    return lambda q, k, v: torch.ops.aten._flash_attention_forward(q, k, v, offsets, offsets, longest, longest, 0.0, True, False)[0]


def rectangular(batch):
    """Attention where all rows have one length."""

    def attend(q, k, v):
        q, k, v = (part.view(batch, -1, *part.shape[1:]).transpose(1, 2) for part in (q, k, v))
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True).transpose(1, 2).reshape(-1, q.shape[1], q.shape[3])

    return attend
