"""Trains the model on one GPU in a given time, on conversations that other processes make meanwhile.

    python3 train.py --seconds 480 --out DIR [--resume DIR|GGUF]      # writes weights-*.npz, dragoman-tiny.gguf and train.log to DIR
    python3 train.py --cpu --steps 3 --out DIR                   # a few small steps, to see that all of it runs

Matrices are trained with Muon, the rest with AdamW. A run measures how long a step takes and then sets the number of its steps, with which the
rates fall; `--steps` repeats a run with the same steps on the same conversations in the same order.
"""
import argparse
import multiprocessing
import os
import time
import traceback
from pathlib import Path

import numpy as np

from tokenizer import Tokenizer


# ---- Conversations, packed


def produce(seed, row, out, stop):
    """Rows of whole conversations, or the traceback with which it ended."""
    try:
        make_rows(seed, row, out, stop)
    except Exception:
        out.put(traceback.format_exc())


def make_rows(seed, row, out, stop):
    """Rows of whole conversations: tokens, what they are (0 filler, 1 prompt, 2 the model's), and where conversations begin."""
    from generate import Generator

    generator, tokenizer = Generator(seed), Tokenizer.load()
    pending = []
    while not stop.is_set():
        tokens, kinds, starts = np.zeros(row, np.uint16), np.zeros(row, np.uint8), []
        at = 0
        while True:
            if not pending:
                ids, kind = [], []
                for text, model in generator.conversation()["spans"]:
                    part = tokenizer.encode(text)
                    ids += part
                    kind += [2 if model else 1] * len(part)
                pending.append((ids, kind))
            ids, kind = pending[0]
            if len(ids) > 4096:
                pending.pop()
                continue
            if at + len(ids) > row:
                break
            pending.pop()
            tokens[at:at + len(ids)] = ids
            kinds[at:at + len(ids)] = kind
            starts.append(at)
            at += len(ids)
        starts.append(at)
        out.put((tokens.tobytes(), kinds.tobytes(), starts))


class Rows:
    """Rows from all producers, one after the other, so that their order is always the same."""

    def __init__(self, workers, row, seed):
        self.row, self.turn, self.waited = row, 0, 0.0
        self.stop = multiprocessing.Event()
        self.queues = [multiprocessing.Queue(maxsize=6) for _ in range(workers)]
        self.workers = [multiprocessing.Process(target=produce, args=(seed * 1000 + i, row, one, self.stop), daemon=True) for i, one in enumerate(self.queues)]
        for worker in self.workers:
            worker.start()

    def next(self):
        began = time.time()
        made = self.queues[self.turn % len(self.queues)].get()
        self.turn += 1
        if isinstance(made, str):
            # A run that waits for a producer that is gone would wait until its machine is taken away: the others go on.
            self.queues.pop((self.turn - 1) % len(self.queues))
            print(made, flush=True)
            return self.next()
        tokens, kinds, starts = made
        self.waited += time.time() - began
        return np.frombuffer(tokens, np.uint16), np.frombuffer(kinds, np.uint8), starts

    def close(self):
        self.stop.set()
        for worker in self.workers:
            worker.kill()


class Batches:
    """Rows on the device: tokens, targets, kinds of the targets, positions, and the offsets of the conversations."""

    def __init__(self, rows, torch, device):
        self.rows, self.torch, self.device, self.turn = rows, torch, device, 0
        pinned = device == "cuda"
        # The copies run behind the kernels of earlier steps: each buffer rests for some steps before it is written again.
        self.buffers = [(torch.empty(rows.row, dtype=torch.int32, pin_memory=pinned), torch.empty(rows.row, dtype=torch.uint8, pin_memory=pinned), torch.empty(4096, dtype=torch.int32, pin_memory=pinned)) for _ in range(16)]

    def next(self):
        torch = self.torch
        row, kinds, starts = self.rows.next()
        size = len(row)
        offsets = starts + [size] if starts[-1] < size else starts
        buffers = self.buffers[self.turn % 16]
        self.turn += 1
        for buffer, values in zip(buffers, (row, kinds, np.array(offsets, np.int32))):
            buffer.numpy()[:len(values)] = values
        tokens, kinds = (buffer.to(self.device, non_blocking=True).long() for buffer in buffers[:2])
        bounds = buffers[2][:len(offsets)].to(self.device, non_blocking=True)
        lengths = bounds.diff().long()
        positions = torch.arange(size, device=self.device) - torch.repeat_interleave(bounds[:-1].long(), lengths, output_size=size)
        targets, kinds = tokens.roll(-1), kinds.roll(-1)
        kinds[bounds[1:].long() - 1] = 0
        return tokens, targets, kinds, positions.clamp_(max=4095), bounds


# ---- Optimizers


def orthogonal(torch, g):
    """The nearest orthogonal matrices, by Newton and Schulz."""
    x = g.bfloat16()
    flip = x.size(-2) > x.size(-1)
    if flip:
        x = x.mT
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(5):
        a = x @ x.mT
        x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
    return x.mT if flip else x


class Muon:
    def __init__(self, torch, params, momentum=0.95, decay=0.02):
        self.torch, self.params, self.momentum, self.decay = torch, params, momentum, decay
        self.state = [torch.zeros_like(p) for p in params]

    def step(self, rate, momentum):
        torch = self.torch
        with torch.no_grad():
            for p, m in zip(self.params, self.state):
                m.lerp_(p.grad, 1 - momentum)
                update = orthogonal(torch, p.grad.lerp(m, momentum))
                p.mul_(1 - rate * self.decay)
                p.add_(update.to(p.dtype), alpha=-rate * max(1, p.size(-2) / p.size(-1)) ** 0.5)


# ---- Saving


def save(model, out, log):
    """Weights as half floats in files that are small enough to bring back, and the GGUF file."""
    from gguf import write_model

    weights = {name: p.detach().float().cpu().numpy() for name, p in model.named_parameters()}
    part, size, n = {}, 0, 0
    for name, array in weights.items():
        half = array.astype(np.float16)
        if part and size + half.nbytes > 14_000_000:
            np.savez(out / f"weights-{n}.npz", **part)
            part, size, n = {}, 0, n + 1
        part[name] = half
        size += half.nbytes
    np.savez(out / f"weights-{n}.npz", **part)
    size = write_model(out / "dragoman-tiny.gguf", weights, model.shape, Tokenizer.load())
    log(f"saved {sum(array.size for array in weights.values()):,} parameters, dragoman-tiny.gguf has {size:,} bytes")


def load(model, source, torch):
    from gguf import read_weights

    found = read_weights(Path(source), model.shape["layers"])
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.copy_(torch.from_numpy(found[name].astype(np.float32)))


# ---- The run


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=480)
    parser.add_argument("--steps", type=int, help="instead of as many as fit into the time")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--resume", type=Path)
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--row", type=int, default=131072, help="tokens a step")
    parser.add_argument("--workers", type=int, default=14)
    parser.add_argument("--counted", type=int, default=49152, help="tokens a step that the loss counts: all of the model's, and some of the prompts'")
    parser.add_argument("--prompt", type=float, default=0.06, help="how much a token of a prompt counts; one of the model's counts 1")
    parser.add_argument("--rate", type=float, default=0.02, help="of Muon; AdamW has a tenth of it")
    parser.add_argument("--flat", type=float, default=0.35, help="part of the run before the rates fall")
    parser.add_argument("--end", type=float, default=0.0, help="part of the rates that is left at the end")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    began = time.time()
    if options.cpu:
        options.row, options.workers, options.counted = 4096, 2, 2048
    rows = Rows(options.workers, options.row, options.seed)

    import torch

    import model as tiny

    lines = open(options.out / "train.log", "w")

    def log(text):
        print(text, flush=True)
        lines.write(text + "\n")
        lines.flush()

    device = "cpu" if options.cpu else "cuda"
    torch.manual_seed(options.seed)
    torch.set_float32_matmul_precision("high")
    model = tiny.Tiny().to(device)
    if options.resume:
        load(model, options.resume, torch)
    model.fast = not options.cpu
    loss_of = tiny.loss_of if options.cpu else tiny.compile_parts()
    log(f"torch {torch.__version__}, {device}, {sum(p.numel() for p in model.parameters()):,} parameters, {vars(options)}")
    named = dict(model.named_parameters())
    batches = Batches(rows, torch, device)
    muon = Muon(torch, [named[name] for name in tiny.MATRICES])
    adam = torch.optim.AdamW([p for name, p in named.items() if name not in tiny.MATRICES], lr=options.rate / 10, betas=(0.9, 0.95), weight_decay=0.0, fused=not options.cpu)
    step, seen, sums, first_step, total, saved = 0, 0, torch.zeros(4, device=device), None, options.steps, 0
    while total is None or step < total:
        if time.time() - began > options.seconds:
            log("out of time")
            break
        if total is None and step == 300:
            torch.cuda.synchronize()
            now = time.time()
            total = step + int((options.seconds - 12 - (now - began)) / ((now - first_step) / (step - 1)) * 0.985)
            log(f"--steps {total}")
        progress = step / total if total else 0.0
        scale = min(1.0, (step + 1) / 200) * (1 - (1 - options.end) * max(0.0, progress - options.flat) / max(1 - options.flat, 1e-9))
        tokens, targets, kinds, positions, offsets = batches.next()
        attend = documents(torch, offsets) if options.cpu else tiny.varlen(offsets, 4096)
        weights = torch.where(kinds == 2, 1.0, torch.where(kinds == 1, 0.25 if progress < 0.15 and not options.resume else options.prompt, 0.0))
        counted = (kinds + torch.rand(kinds.shape, device=device) * 0.9).topk(options.counted, sorted=False).indices
        kinds = kinds[counted]
        x = model.hidden(tokens, positions, attend).index_select(0, counted)
        loss, each = loss_of(x, model.out_norm, model.embed, targets[counted], weights[counted])
        loss.backward()
        muon.step(options.rate * scale, min(0.95, 0.85 + 0.1 * step / 300))
        for group in adam.param_groups:
            group["lr"] = options.rate / 10 * scale
        torch.nn.utils.clip_grad_norm_(adam.param_groups[0]["params"], 1.0)
        adam.step()
        model.zero_grad(set_to_none=True)
        with torch.no_grad():
            sums += torch.stack([(each * (kinds == 2)).sum(), (kinds == 2).sum(), (each * (kinds == 1)).sum(), (kinds == 1).sum()])
        step += 1
        seen += options.row
        if first_step is None:
            if not options.cpu:
                torch.cuda.synchronize()
            first_step = time.time()
            log(f"first step after {first_step - began:.1f} s")
        if step % 200 == 0 or options.cpu:
            a, b, c, d = sums.tolist()
            sums.zero_()
            now = time.time()
            log(f"{now - began:6.1f} s  step {step:6d}  {seen / 1e6:8.1f} M tokens  {seen / (now - first_step) / 1e6:.2f} M/s  model {a / max(b, 1):.4f}  prompt {c / max(d, 1):.4f}  waited {rows.waited:.1f} s  rate {options.rate * scale:.4f}")
        if total and saved < 8 * step // total < 8:
            saved = 8 * step // total
            save(model, options.out, log)
    rows.close()
    save(model, options.out, log)
    log(f"done after {time.time() - began:.1f} s: {step} steps, {seen / 1e6:.0f} M tokens")
    lines.close()
    os._exit(0)


def documents(torch, offsets):
    """Attention one conversation at a time, for the CPU."""
    import torch.nn.functional as F

    bounds = offsets.tolist()

    def attend(q, k, v):
        out = []
        for a, b in zip(bounds, bounds[1:]):
            one = (part[a:b].transpose(0, 1)[None] for part in (q, k, v))
            out.append(F.scaled_dot_product_attention(*one, is_causal=True, enable_gqa=True)[0].transpose(0, 1))
        return torch.cat(out)

    return attend


if __name__ == "__main__":
    main()
