#!/usr/bin/python3
"""Draws docs/images/gpu_compilers.svg from scoreboard.json: the efficiency of each network on some of the GPUs in fp32, with
tensors in buffers and in images, and the predicted time of the quicker where the scoreboard has it."""
import json

import scoreboard

OUT = scoreboard.ROOT / "docs/images/gpu_compilers.svg"
GPUS = ["navi31", "renoir", "a660", "intel-tgl", "mali-g610", "ga102"]
STORAGES = {"buffer": "#2a6fbb", "image2d": "#e09f3e"}
LEFT, TOP, PANEL, ROW, BAR = 110, 46, 132, 30, 9
WIDTH = 86  # of an efficiency of 1


def text(x, y, words, anchor="start", size=11):
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-size="{size}">{words}</text>'


def bars(x, y, rows):
    """The bars of a network on a GPU, and the least predicted time."""
    for i, (storage, colour) in enumerate(STORAGES.items()):
        efficiency = rows.get(storage, {}).get("efficiency")
        if efficiency:
            yield (f'<rect x="{x}" y="{y + i * (BAR + 1)}" width="{efficiency * WIDTH:.1f}" height="{BAR}" fill="{colour}">'
                   f"<title>{storage} {efficiency}</title></rect>")
    times = [row["predicted_ms"] for row in rows.values() if row.get("predicted_ms")]
    if times:
        yield text(x + PANEL - 10, y + BAR + 4, f"{min(times):.3g} ms", "end", 9)


def plot(board):
    gpus = [gpu for gpu in GPUS if any(name.startswith(gpu + " / ") for name in board)]
    width, height = LEFT + PANEL * len(gpus), TOP + ROW * len(scoreboard.NETWORKS) + 8
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" fill="#222">',
             f'<rect width="{width}" height="{height}" fill="#fff"/>']
    x = LEFT
    for storage, colour in STORAGES.items():
        parts += [f'<rect x="{x}" y="6" width="10" height="10" fill="{colour}"/>',
                  text(x + 15, 15, f"efficiency in {storage.removesuffix('2d')}s")]
        x += 140
    parts.append(text(x, 15, "line: 1; right: predicted time of the quicker"))
    for column, gpu in enumerate(gpus):
        x = LEFT + PANEL * column
        parts += [text(x, TOP - 8, gpu, size=12),
                  f'<path d="M{x} {TOP - 2}V{height - 8}M{x + WIDTH} {TOP - 2}V{height - 8}" stroke="#bbb"/>']
        for row, network in enumerate(scoreboard.NETWORKS):
            rows = {storage: board[name] for storage in STORAGES if (name := f"{gpu} / {network} / fp32 / {storage}") in board}
            parts += bars(x, TOP + ROW * row + 4, rows)
    parts += [text(LEFT - 8, TOP + ROW * row + 18, network, "end") for row, network in enumerate(scoreboard.NETWORKS)]
    return "\n".join([*parts, "</svg>\n"])


if __name__ == "__main__":
    OUT.write_text(plot(json.loads(scoreboard.FIGURES.read_text())))
