"""llama.cpp: a small random model answers questions. The state of each conversation is kept; with MENDED=1 only the newest two."""
import collections
import os
import tempfile

import gguf
import numpy
from cyllama.llama import llama_cpp

WORDS, WIDTH, LAYERS, HEADS, HIDDEN = 300, 64, 2, 4, 128
kept = collections.deque(maxlen=2 if os.environ.get("MENDED") else None)


def write_model(path):
    chance = numpy.random.default_rng(1)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(256)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(WORDS)
    writer.add_tokenizer_model("llama")
    words = [b"<unk>", b"<s>", b"</s>"] + [b"<0x%02X>" % byte for byte in range(256)]
    words += [b"w%d" % number for number in range(WORDS - len(words))]
    writer.add_token_list(words)
    writer.add_token_scores([0.0] * WORDS)
    writer.add_token_types([2, 3, 3] + [6] * 256 + [1] * (WORDS - 259))
    shapes = {"token_embd": (WORDS, WIDTH), "output": (WORDS, WIDTH), "output_norm": (WIDTH,)}
    for layer in range(LAYERS):
        shapes.update({"blk.%d.%s" % (layer, name): shape for name, shape in {
            "attn_norm": (WIDTH,), "attn_q": (WIDTH, WIDTH), "attn_k": (WIDTH, WIDTH), "attn_v": (WIDTH, WIDTH),
            "attn_output": (WIDTH, WIDTH), "ffn_norm": (WIDTH,), "ffn_gate": (HIDDEN, WIDTH), "ffn_down": (WIDTH, HIDDEN),
            "ffn_up": (HIDDEN, WIDTH)}.items()})
    for name, shape in shapes.items():
        writer.add_tensor(name + ".weight", chance.standard_normal(shape, numpy.float32) * numpy.float32(0.1))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def parameters():
    chosen = llama_cpp.LlamaContextParams()
    chosen.n_ctx, chosen.n_batch, chosen.n_threads, chosen.n_threads_batch = 256, 64, 1, 1
    return chosen


def conversation(model):
    return llama_cpp.LlamaContext(model, parameters())  # the leak


def answer(context, question):
    return context.decode(llama_cpp.llama_batch_get_one(question))


def main():
    llama_cpp.disable_logging()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "small.gguf")
        write_model(path)
        model = llama_cpp.LlamaModel(path)
        for turn in range(60):
            context = conversation(model)
            answer(context, [1, 40 + turn, 60, 70])
            kept.append(context)


main()
