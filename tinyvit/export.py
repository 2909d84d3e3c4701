"""`python -m tinyvit.export WEIGHTS OUT`: write a model in another format, or as a page to look inside it."""

import argparse
from pathlib import Path

from tinyvit.api import Model, load
from tinyvit.flags import (
    READING,
    add_checkpoint_flag,
    add_data_of_run_flag,
    add_flags,
    add_weights_argument,
)
from tinyvit.insight.page import Samples, check_page_can_run, choose_samples, write_page
from tinyvit.model import ViTConfig
from tinyvit.support.errors import UserError
from tinyvit.support.figures import counted
from tinyvit.support.shell.command import make_parser, run_command, some_path
from tinyvit.support.shell.progress import Progress
from tinyvit.training.loading import check_has_head
from tinyvit.training.run_data import load_data_of_run, needs_download
from tinyvit.training.run_folder import RunFolder
from tinyvit.weights.save import check_free, check_replaceable, folder_layout, left_out, save_model

_EPILOG = """\
The ending of OUT decides the format:

  NAME.npz          the official format, for models that compute as the
                    official code does (tanh GELU, epsilon 1e-6), as
                    ViTs trained with tinyvit do
  NAME.safetensors  arrays named as timm names them, if the model has exact GELU
                    and epsilon 1e-6, or as Hugging Face does, if it has exact
                    GELU and epsilon 1e-12
  NAME              a folder that Hugging Face's from_pretrained opens, for any
                    GELU and epsilon; or, for a model trained with
                    --pool mean, as the recipes for CIFAR-10 do, or for
                    images that are not square, one that timm's create_model
                    opens, for any GELU; these formats and the next keep the
                    names of the classes, and how photos are fitted
  NAME.onnx         the model itself, any that classifies, for onnxruntime and
                    other programs. Its input is `images`, uint8 pixels (batch,
                    height, width, 3), its outputs `logits` and `probabilities`
                    (batch, classes); metadata tell the names of the classes,
                    and how a photo becomes an image. Writing it needs the
                    package onnx (pip install onnx); tinyvit does not read it
  NAME.html         a page in which the model runs, with sample images if the
                    data of a run are at hand: draw, see where every head looks,
                    send the gradient of the loss back to the pixels (plain ViTs
                    up to 8 million parameters and 2 billion multiply-adds)

A ResNet on its own, a small hybrid such as R5+nano/4, positions in the blocks, and merged patches fit none
of the first three. If OUT is there already, it is replaced if tinyvit saved or exported it;
anything else is left as it is.

examples:
  python -m tinyvit.export runs/shapes-1 shapes.html
  python -m tinyvit.export runs/cifar10-1 cifar10.npz
  python -m tinyvit.export runs/folder-1 my-flowers
  python -m tinyvit.export runs/folder-1 flowers.onnx
"""


def main(args: argparse.Namespace) -> None:
    """Load the model, write it, and say where."""
    report = Progress().download(args.weights)
    as_page = args.out.suffix.lower() == ".html"
    if as_page and args.layout:
        raise UserError("--layout is for files of weights and folders: omit it for a page.")
    if not as_page and (args.data_dir or args.no_samples):
        raise UserError("--data-dir and --no-samples are for a page, which has sample images: omit them.")
    if as_page:  # before anything is downloaded
        check_replaceable(args.out)
    else:
        check_free(args.out, more=" .html for a page,")
    model = load(args.weights, checkpoint=args.checkpoint, heads=args.heads, report=report)
    check_has_head(args.weights, model)
    model = model.at_resolution(args.resolution, args.position_resize)
    if as_page:
        export_page(args, model)
        return
    ending = args.out.suffix.lower()
    layout = args.layout or {".npz": "official", "": folder_layout(model.config, model.photo_fit)}.get(ending)
    notes = save_model(model, args.out, layout, model.photo_fit)
    print(f"wrote {args.out}: {model.params.count:,} parameters")
    if layout == "timm":
        print(f'open it with timm.create_model("local-dir:{args.out}", pretrained=True)')
    if ending == ".safetensors":
        print("it expects pixels from -1 to 1 (for timm: mean=0.5, std=0.5), as its metadata say")
    for note in notes:
        print(note)


def export_page(args: argparse.Namespace, model: Model) -> None:
    """Write the page of a model, with sample images if there are any, and say where it is."""
    check_page_can_run(model.config)  # before the data are read
    run = RunFolder.at(args.weights)
    subtitle = f"{args.weights}, {model.params.count:,} parameters."
    if run:
        settings = run.settings()
        subtitle = f"{settings.model}, trained on {settings.dataset}: {model.params.count:,} parameters."
    samples = samples_of_run(run, args.data_dir, model.config) if run and not args.no_samples else None
    size = write_page(model, args.out, samples, subtitle)
    print(f"wrote {args.out}: {size / 1e6:.1f} MB; open it in a browser")
    for note in left_out(model, "page", model.photo_fit):
        print(note)
    if run and samples:
        where = args.data_dir or run.settings().data_dir or run.settings().dataset
        print(
            f"it holds {counted(len(samples.labels), 'test image')} of {where}, for whoever gets it to see: "
            "--no-samples omits them"
        )
    elif args.no_samples:
        print("it holds no sample images: draw, or drop a photo on it")
    else:
        print("it has no sample images, since the data of a run are not at hand: draw, or drop a photo on it")


def samples_of_run(run: RunFolder, data_dir: Path | None, config: ViTConfig) -> Samples | None:
    """Sample images from the test data of a run; None if these are not at hand."""
    try:
        if needs_download(run, data_dir):
            return None
        return choose_samples(config, load_data_of_run(run, data_dir, Progress(), config).test)
    except UserError:
        if data_dir is not None:
            raise
        return None


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = make_parser("export", __doc__, _EPILOG)
    add_weights_argument(p)
    p.add_argument(
        "out", type=some_path, metavar="OUT", help="file (.npz, .safetensors, .onnx, .html) or folder"
    )
    p.add_argument(
        "--layout",
        choices=("hugging_face", "timm"),
        help="the library that a folder is for (default: hugging_face, or timm if only it has such a model)",
    )
    add_flags(p, *READING)
    add_checkpoint_flag(p)
    add_data_of_run_flag(p)
    p.add_argument(
        "--no-samples", action="store_true", help="leave test images of the run out of an .html page"
    )
    return p


if __name__ == "__main__":
    run_command(parser(), main)
