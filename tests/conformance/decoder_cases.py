"""The decoders of generated_tokens.py: small networks with seeded weights, exported by torch.

The inputs and outputs of each are past.N.key, past.N.value, present.N.key and present.N.value beside its own.
"""
import contextlib
import inspect
import io
import warnings

import numpy as np
import torch
import transformers
from transformers.cache_utils import DynamicCache, EncoderDecoderCache

CAPACITY = 128


class Decoder(torch.nn.Module):
    """A causal model whose caches are inputs and outputs. `names`: of the arguments before the caches."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *values):
        given = dict(zip(self.names, values))
        past = values[len(self.names):]
        cache = DynamicCache()
        for i in range(0, len(past), 2):
            cache.update(past[i], past[i + 1], i // 2)
        result = self.model(**given, past_key_values=cache, use_cache=True)
        return (result.logits, *(tensor for layer in result.past_key_values.layers for tensor in (layer.keys, layer.values)))


class CrossDecoder(torch.nn.Module):
    """A decoder of an encoder-decoder: the keys and values of cross attention are inputs, which are computed once."""

    def __init__(self, decoder, layers):
        super().__init__()
        self.decoder, self.layers = decoder, layers

    def forward(self, input_ids, attention_mask, *tensors):
        own, cross = DynamicCache(), DynamicCache()
        for i in range(self.layers):
            own.update(tensors[2 * i], tensors[2 * i + 1], i)
            cross.update(tensors[2 * (self.layers + i)], tensors[2 * (self.layers + i) + 1], i)
        cache = EncoderDecoderCache(own, cross)
        for i in range(self.layers):
            cache.is_updated[i] = True
        states = torch.zeros(1, tensors[-1].shape[2], self.decoder.config.cross_attention_hidden_size
                             or self.decoder.config.hidden_size, dtype=tensors[0].dtype)
        result = self.decoder(input_ids=input_ids, attention_mask=attention_mask, encoder_hidden_states=states,
                              past_key_values=cache, use_cache=True)
        own = result.past_key_values.self_attention_cache
        return (result.logits, *(tensor for layer in own.layers for tensor in (layer.keys, layer.values)))


class Case:
    """A decoder, its prompt, and what its steps read beside the caches."""
    capacity = CAPACITY

    def __init__(self, name, module, names, layers, kv_heads, channels, fixed=None):
        self.name, self.module, self.names, self.layers = name, module.eval(), names, layers
        self.kv = kv_heads, channels
        self.fixed = fixed or {}  # inputs that are the same in all runs
        self.caches = [f"past.{i}.{what}" for i in range(layers) for what in ("key", "value")]

    def inputs(self, tokens, past, total):
        """Inputs of a run of `tokens` after `past` earlier ones, with a mask of `total`."""
        mask = np.zeros((1, total), np.int64)
        mask[:, :past + len(tokens)] = 1
        values = {"input_ids": np.array([tokens], np.int64), "attention_mask": mask,
                  "position_ids": np.arange(past, past + len(tokens))[None]}
        return {name: values[name] for name in self.names} | self.fixed

    def prompt_inputs(self, run):
        return self.inputs(self.prompt, 0, run.total(0, len(self.prompt))), len(self.prompt)

    prompt = [7, 3, 44, 12, 5, 60, 18]

    def export(self, path, exporter):
        past, count = 5, 3
        given = self.inputs(list(range(count)), past, past + count)
        names = list(given)
        tensors = [torch.from_numpy(given[name]) for name in self.names]
        caches = [torch.randn(1, self.kv[0], past, self.kv[1]) for _ in self.caches]
        fixed = [torch.from_numpy(given[name]) for name in self.fixed]
        presents = [name.replace("past", "present") for name in self.caches]
        axes = {name: {self.axis(name): "total" if name == "attention_mask" else "tokens"} for name in self.names}
        axes |= {name: {2: "past"} for name in self.caches} | {name: {2: "total"} for name in presents}
        axes["logits"] = {1: "tokens"}
        options = dict(dynamo=False, opset_version=17, dynamic_axes=axes)
        if exporter == "dynamo":
            options = dict(dynamo=True, opset_version=23, dynamic_shapes=self.open_dimensions(), verbose=False)
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            torch.onnx.export(self.module, (*tensors, *caches, *fixed), path,
                              input_names=[*self.names, *self.caches, *self.fixed], output_names=["logits", *presents], **options)

    def axis(self, name):
        """The dimension of an input that counts tokens."""
        return 1

    def open_dimensions(self):
        """As the arguments of forward() are nested."""
        auto = torch.export.Dim.AUTO
        dims = [{self.axis(name): auto} for name in self.names] + [{2: auto} for _ in self.caches] + [None for _ in self.fixed]
        own = sum(kind.kind == kind.POSITIONAL_OR_KEYWORD for kind in inspect.signature(self.module.forward).parameters.values())
        return (*dims[:own], tuple(dims[own:]))


def llama(width=64, layers=2):
    config = transformers.LlamaConfig(vocab_size=211, hidden_size=width, intermediate_size=3 * width,
                                      num_hidden_layers=layers, num_attention_heads=4, num_key_value_heads=2,
                                      max_position_embeddings=256, initializer_range=0.3)
    names = ["input_ids", "attention_mask", "position_ids"]
    return Case("llama", Decoder(transformers.LlamaForCausalLM(config), names), names, layers, 2, width // 4)


def opt(width=64, layers=2):
    """Its positions are slices of the running sums of the mask."""
    config = transformers.OPTConfig(vocab_size=211, hidden_size=width, word_embed_proj_dim=width, ffn_dim=3 * width,
                                    num_hidden_layers=layers, num_attention_heads=4, max_position_embeddings=256, init_std=0.3)
    names = ["input_ids", "attention_mask"]
    return Case("opt", Decoder(transformers.OPTForCausalLM(config), names), names, layers, 4, width // 4)


def trocr(width=64, layers=2):
    config = transformers.TrOCRConfig(vocab_size=211, d_model=width, decoder_layers=layers, decoder_attention_heads=4,
                                      decoder_ffn_dim=3 * width, max_position_embeddings=256, init_std=0.3,
                                      cross_attention_hidden_size=width)
    model = transformers.TrOCRForCausalLM(config).eval()
    vision = transformers.ViTModel(transformers.ViTConfig(hidden_size=width, num_hidden_layers=2, num_attention_heads=4,
                                                          intermediate_size=2 * width, image_size=32, patch_size=8))
    with torch.no_grad():
        states = vision.eval()(torch.randn(1, 3, 32, 32)).last_hidden_state
        cross = {}
        for i, layer in enumerate(model.model.decoder.layers):
            for what, projection in (("key", layer.encoder_attn.k_proj), ("value", layer.encoder_attn.v_proj)):
                heads = projection(states).view(1, -1, 4, width // 4).transpose(1, 2)
                cross[f"cross.{i}.{what}"] = heads.contiguous().numpy()
    return Case("trocr", CrossDecoder(model, layers), ["input_ids", "attention_mask"], layers, 4, width // 4, cross)


class Pictures(torch.nn.Module):
    """SmolVLM's vision model and connector: a picture becomes tokens for the decoder."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    # Positions of a whole picture are the rows of the table in order; torch's exporter writes an invalid Gather for others.
    def forward(self, pixel_values):
        vision = self.model.vision_model
        patches = vision.embeddings.patch_embedding(pixel_values).flatten(2).transpose(1, 2)
        states = vision.encoder(inputs_embeds=patches + vision.embeddings.position_embedding.weight[None]).last_hidden_state
        return self.model.connector(vision.post_layernorm(states))


class TextOfEmbeddings(torch.nn.Module):
    def __init__(self, text_model, head):
        super().__init__()
        self.text_model, self.head = text_model, head

    def forward(self, past_key_values, use_cache, **given):
        result = self.text_model(**given, past_key_values=past_key_values, use_cache=use_cache)
        result.logits = self.head(result.last_hidden_state)
        return result


class PictureCase(Case):
    """The prompt is a picture between tokens; the decoder reads embeddings. `pictures`: the vision model."""
    names = ["inputs_embeds", "attention_mask", "position_ids"]

    def __init__(self, name, text_model, head, pictures, picture, layers, kv_heads, channels):
        super().__init__(name, Decoder(TextOfEmbeddings(text_model, head), self.names), self.names, layers, kv_heads, channels)
        self.pictures = pictures.eval()
        self.table = text_model.embed_tokens.weight.detach().numpy().copy()
        self.picture = np.random.default_rng(1).standard_normal(picture, np.float32)
        self.features = None

    def embedded(self, tokens):
        return self.table[np.array(tokens)][None]

    def inputs(self, tokens, past, total):
        return self.of_embeddings(self.embedded(tokens), past, total)

    def positions(self, past, count):
        return np.arange(past, past + count)[None]

    def of_embeddings(self, embeds, past, total):
        count = embeds.shape[1]
        mask = np.zeros((1, total), np.int64)
        mask[:, :past + count] = 1
        return {"inputs_embeds": embeds, "attention_mask": mask, "position_ids": self.positions(past, count)}

    def prompt_inputs(self, run):
        parts = [self.embedded(self.prompt[:2]), self.features, self.embedded(self.prompt[2:])]
        embeds = np.concatenate(parts, 1)
        return self.of_embeddings(embeds, 0, run.total(0, embeds.shape[1])), embeds.shape[1]


def smolvlm(width=64, layers=2):
    text = dict(model_type="llama", vocab_size=211, hidden_size=width, intermediate_size=3 * width, num_hidden_layers=layers,
                num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=256, initializer_range=0.3)
    vision = dict(hidden_size=48, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4, image_size=32, patch_size=8,
                  initializer_range=0.1)
    config = transformers.SmolVLMConfig(text_config=text, vision_config=vision, scale_factor=2, image_token_id=210,
                                        pad_token_id=0)
    model = transformers.SmolVLMForConditionalGeneration(config)
    return PictureCase("smolvlm", model.model.text_model, model.lm_head, Pictures(model.model), (1, 3, 32, 32), layers, 2,
                       width // 4)


class Patches(torch.nn.Module):
    """Qwen2-VL's vision model: rows of patches, each the pixels of two frames, become tokens for the decoder."""

    def __init__(self, visual, grid):
        super().__init__()
        self.visual = visual
        self.register_buffer("grid", torch.tensor([grid]))

    def forward(self, pixel_values):
        return self.visual(pixel_values, grid_thw=self.grid).pooler_output[None]


class QwenCase(PictureCase):
    """Positions are a time, a row and a column. Those of a picture continue in a rectangle, and text after it at their maximum."""
    side = 3  # tokens of the picture in a row and in a column

    def axis(self, name):
        return 2 if name == "position_ids" else 1

    def positions(self, past, count):
        text, picture = 2, self.side ** 2  # tokens before the picture, and of it
        at = np.arange(past, past + count)
        place = at - text
        inside = (place >= 0) & (place < picture)
        after = at - np.where(place >= picture, picture - self.side, 0)
        offsets = np.stack([np.zeros_like(at), place // self.side, place % self.side])
        return np.where(inside, text + offsets, after)[:, None]


def qwen2vl(width=64, layers=2):
    text = dict(vocab_size=211, hidden_size=width, intermediate_size=3 * width, num_hidden_layers=layers, num_attention_heads=4,
                num_key_value_heads=2, max_position_embeddings=256, initializer_range=0.3, tie_word_embeddings=False,
                rope_parameters={"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 3, 3]})
    vision = dict(depth=2, embed_dim=48, hidden_size=width, num_heads=4, mlp_ratio=2, patch_size=8, spatial_merge_size=2,
                  initializer_range=0.1)
    config = transformers.Qwen2VLConfig(text_config=text, vision_config=vision)
    config._attn_implementation = "eager"
    model = transformers.Qwen2VLForConditionalGeneration(config)
    patches = 2 * QwenCase.side
    return QwenCase("qwen2vl", model.model.language_model, model.lm_head, Patches(model.model.visual, (1, patches, patches)),
                    (patches ** 2, 3 * 2 * 8 * 8), layers, 2, width // 4)
