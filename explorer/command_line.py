"""The command `scaling-explorer`: all that the app does to data, without a browser."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from explorer.errors import BadInput, ExplorerError, StoreError
from explorer.log import keep_log
from explorer.numbers import read_number

if TYPE_CHECKING:
    from explorer.exhibits import Table
    from explorer.lab import Lab, Training
    from explorer.laws import Law
    from explorer.planning import Candidate
    from explorer.runs import Store

cli = typer.Typer(
    name="scaling-explorer",
    help="Predicted loss curves beside really trained tiny models.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
runs_cli = typer.Typer(help="List, show, export and delete stored runs.", no_args_is_help=True)
cli.add_typer(runs_cli, name="runs")

StorePath = Annotated[
    Path | None, typer.Option("--store", help="The store's file. Default: one in your user data folder.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Set a slider; may be repeated.")
]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1 or mps.")]


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; a fault is told in one sentence with exit status 2."""
    try:
        keep_log()
        cli(args=arguments)
    except ExplorerError as error:
        print(error, file=sys.stderr)
        raise SystemExit(2) from None
    except BrokenPipeError:
        raise SystemExit(0) from None


def _print_json(value: Any) -> None:
    print(json.dumps(_plain(value), indent=2, ensure_ascii=False, allow_nan=False))


def _plain(value: Any) -> Any:
    """Builtins only; what is not a finite number becomes null, as JSON has no word for it."""
    import msgspec

    def clean(one: Any) -> Any:
        if isinstance(one, float):
            return one if math.isfinite(one) else None
        if isinstance(one, dict):
            return {str(key): clean(item) for key, item in one.items()}
        return [clean(item) for item in one] if isinstance(one, list | tuple) else one

    return clean(msgspec.to_builtins(value, enc_hook=lambda array: array.tolist()))


def _settings(pairs: list[str] | None, option: str = "--set") -> dict[str, str]:
    values = {}
    for pair in pairs or []:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise BadInput(f"{option} {pair!r} was given; it takes NAME=VALUE, for example {option} N=70B.")
        values[name.strip()] = value.strip()
    return values


@cli.command()
def app(
    host: Annotated[
        str, typer.Option(help="Where to listen. The default is reached from this computer only.")
    ] = ("localhost"),
    port: Annotated[int, typer.Option(help="Port; 0 takes any free one.")] = 5007,
    store: StorePath = None,
    device: Device = "auto",
    workers: Annotated[int | None, typer.Option(help="Trials at once. Default: cores minus one.")] = None,
    browser: Annotated[bool, typer.Option(help="Open the gallery in the default browser.")] = True,
) -> None:
    """Start the app and open the gallery in a browser."""
    # Before numpy is loaded: small solves on a busy computer are much slower on several threads than on one.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from explorer.app import serve

    lab = _lab(store, device, workers)
    try:
        serve(lab, host, port, browser)
    finally:
        lab.close()


@cli.command("list")
def list_exhibits(as_json: AsJson = False) -> None:
    """List the exhibits with their papers and live experiments."""
    from explorer.exhibits import discover

    found: list[dict[str, Any]] = []
    for entry in discover():
        if entry.cls is None:
            found.append({"slug": entry.slug, "error": entry.error})
            continue
        found.append(
            {
                "slug": entry.slug,
                "question": entry.cls.question(),
                "paper": entry.cls.paper.citation,
                "trials": [
                    {"name": spec.name, "title": spec.title, "seconds": dict(spec.seconds)}
                    for spec in entry.cls.trials().values()
                ],
            }
        )
    if as_json:
        _print_json(found)
        return
    for one in found:
        print(f"{one['slug']}: {one.get('question') or 'cannot be loaded. ' + one['error']}")
        if "paper" in one:
            print(f"    {one['paper']}")
        for trial in one.get("trials", []):
            sizes = ", ".join(f"{size} {seconds:g} s" for size, seconds in trial["seconds"].items())
            print(f"    {trial['name']}: {trial['title']} ({sizes})")


@cli.command()
def predict(slug: str, settings: Settings = None, as_json: AsJson = False) -> None:
    """Print what an exhibit predicts for its sliders."""
    from explorer.exhibits import find
    from explorer.numbers import write_number

    exhibit = find(slug)()
    exhibit.restore(_settings(settings))
    if as_json:
        figures = {name: [asdict(one) for one in curves] for name, curves in exhibit.predict().items()}
        readouts = [{"label": r.label, "value": r.value, "unit": r.unit} for r in exhibit.readouts()]
        _print_json({"slug": slug, "sliders": exhibit.values(), "readouts": readouts, "figures": figures})
        return
    for name, value in exhibit.values().items():
        slider = exhibit.sliders()[name]
        print(f"{name:12} {slider.write(value):14} {slider.label} ({slider.offered})")
    print()
    for readout in exhibit.readouts():
        value = readout.text if readout.value is None else write_number(readout.value, 7)
        print(f"{readout.label:24} {value} {readout.unit}".rstrip())


@cli.command()
def train(
    slug: str,
    trial: Annotated[str | None, typer.Argument(help="The exhibit's first trial by default.")] = None,
    size: Annotated[str, typer.Option(help="One of the trial's sizes; `list` tells them.")] = "default",
    quick: Annotated[bool, typer.Option("--quick", help="The same as --size quick.")] = False,
    large: Annotated[
        bool, typer.Option("--large", help="The same as --size large; meant for a GPU.")
    ] = False,
    settings: Settings = None,
    store: StorePath = None,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Seal the prediction, train, and print how far apart they are."""
    from explorer.exhibits import find

    exhibit = find(slug)()
    exhibit.restore(_settings(settings))
    if quick and large:
        raise BadInput("Both --quick and --large were given; choose one.")
    chosen = "quick" if quick else "large" if large else size
    lab = _lab(store, device, None)
    try:
        training = lab.train(exhibit, trial, chosen, session="command line")
        _follow(training, quiet=as_json)
        run, agreements, tables = training.run, training.agreements(), training.tables()
        if as_json:
            _print_json({"run": run, "agreements": agreements, "tables": [asdict(one) for one in tables]})
        else:
            for one in agreements:
                low, high = one.interval or (one.value, one.value)
                print(f"{one.claim}")
                print(
                    f"{one.verdict}: {one.value:.4g} ({one.coverage:.0%} interval {low:.4g} to {high:.4g}), "
                    f"threshold {one.threshold:g}; {one.points} points, {one.seeds} seeds"
                )
                for name, value in one.baselines.items():
                    print(f"    {name}: {value:.4g}")
                if one.seeds_needed:
                    print(f"    about {one.seeds_needed:,} seeds would settle it, if nothing else changed")
                print(f"{one.scope}\n")
            for table in tables:
                _print_table(table)
            print(f"Run {run.id} is in {lab.store.path}")
        if run.state != "finished":
            raise ExplorerError(run.sentence or f"The run ended as {run.state}.")
    finally:
        lab.close()


def _print_table(table: Table) -> None:
    """Columns as wide as what stands in them; numbers to the right."""
    from explorer.numbers import write_number

    rows = [[one if isinstance(one, str) else write_number(one) for one in row] for row in table.rows]
    widths = [max(map(len, column)) for column in zip(table.columns, *rows, strict=True)]
    print(table.title)
    for row in (list(table.columns), *rows):
        first, *rest = (
            text.ljust(w) if k == 0 else text.rjust(w)
            for k, (text, w) in enumerate(zip(row, widths, strict=True))
        )
        print("    " + "  ".join((first, *rest)))
    print(f"{table.note}\n" if table.note else "")


def _follow(training: Training, quiet: bool) -> None:
    """Wait for the run; progress goes to the terminal's error stream, so that output stays clean."""
    shown, last = not quiet and sys.stderr.isatty(), ""
    try:
        while training.live:
            training.wait(0.2)
            progress = training.run.progress
            line = f"{progress.done:4.0%} {progress.note}"
            if shown:
                print(f"\r{line:<70}", end="", file=sys.stderr, flush=True)
            elif not quiet and progress.note != last:
                print(line, file=sys.stderr, flush=True)
            last = progress.note
    except KeyboardInterrupt:
        training.stop()
        training.wait(5)
    finally:
        if shown:
            print(file=sys.stderr)


@cli.command()
def fit(
    file: Annotated[Path, typer.Argument(help="A .csv, .tsv, .parquet or .jsonl table, one row a run.")],
    law: Annotated[str | None, typer.Option(help="Name of the law. Default: chinchilla.")] = None,
    formula: Annotated[
        str | None, typer.Option(help='A law of your own over the columns: "E + A/N^alpha + B/D^beta".')
    ] = None,
    fix: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Hold a coefficient; may be repeated.")
    ] = None,
    penalty: Annotated[
        str, typer.Option(help="huber (of ln L), log-squares, squares, or quantile (the median).")
    ] = "huber",
    against: Annotated[
        list[str] | None,
        typer.Option(help="Another law to compare on the largest budgets, held out; may be repeated."),
    ] = None,
    resamples: Annotated[int, typer.Option(min=1, help="Bootstrap resamples behind the intervals.")] = 400,
    as_json: AsJson = False,
) -> None:
    """Fit a law to a table of runs: coefficients, intervals, what they hang on, and how laws compare."""
    from explorer.fitting import compare, identify
    from explorer.fitting import fit as fit_law
    from explorer.runs.table import read_table

    if law and formula:
        raise BadInput("Both --law and --formula were given; choose one.")
    chosen, variables, losses = _points(file, _typed(file, formula) if formula else law or "chinchilla")
    held = {name: read_number(value) for name, value in _settings(fix, "--fix").items()}
    found = fit_law(chosen, variables, losses, fixed=held, penalty=penalty)
    spread = found.resample(resamples)
    intervals = {name: spread.coefficient_interval(name) for name in found.coefficients if name not in held}
    known = identify(found)
    contest = None
    if against:
        rivals = [_points(file, name)[0] for name in against]
        contest = compare([chosen, *rivals], read_table(file, ("N", "D", "C", "M")), losses)
    if as_json:
        _print_json(
            {
                **found.to_json(),
                "intervals": intervals,
                "identification": known.to_json(),
                "comparison": contest.to_json() if contest else None,
            }
        )
        return
    print(chosen.title)
    for name, value in found.coefficients.items():
        low, high = intervals.get(name, (math.nan, math.nan))
        between = (
            f"held by --fix {name}"
            if name in held
            else f"90 % of {resamples} resamples: {low:.4g} to {high:.4g}"
        )
        print(f"{name:8} {value:<12.7g} {between}")
    print(
        f"objective {found.objective:.7g} over {found.points} points, rms of ln L {found.rms_log_residual:.4g}"
    )
    print(found.certificate)
    for note in found.notes:
        print(f"{note.severity}: {note}")
    for sentence in (*known.sentences, *(advice.sentence for advice in known.advice[:1])):
        print(sentence)
    for sentence in contest.sentences if contest else ():
        print(sentence)


@cli.command()
def plan(
    flops: Annotated[str | None, typer.Option(help="The budget in FLOPs: 5.76e23, or '100 PF-days'.")] = None,
    gpu_hours: Annotated[
        str | None, typer.Option(help="The budget in hours of one device: 1e4, or '1e4 H100-hours'.")
    ] = None,
    budget: Annotated[
        str | None, typer.Option(help="The budget in money; needs --device and --price.")
    ] = None,
    loss: Annotated[
        str | None, typer.Option(help="Instead of a budget: the loss to reach at the least compute.")
    ] = None,
    device: Annotated[str | None, typer.Option(help="What computes: H100, A100, TPU v5p, ...")] = None,
    mfu: Annotated[
        str | None, typer.Option(help="Share of the device's peak that is reached. Default: 0.4.")
    ] = None,
    price: Annotated[str | None, typer.Option(help="Money for an hour of one device.")] = None,
    tokens_available: Annotated[str | None, typer.Option(help="Unique tokens; more are repeats.")] = None,
    inference_tokens: Annotated[
        str, typer.Option(help="Tokens served over the model's life; their FLOPs count.")
    ] = "0",
    params: Annotated[str | None, typer.Option(help="Fix the number of parameters.")] = None,
    tokens: Annotated[str | None, typer.Option(help="Fix the number of training tokens.")] = None,
    law: Annotated[
        list[str] | None,
        typer.Option(
            help="Published constants; may be repeated: the first answers, the others are compared."
        ),
    ] = None,
    runs: Annotated[
        Path | None,
        typer.Option(
            help="A table of runs, as of `fit`: each --law, chinchilla by default, is fitted to it."
        ),
    ] = None,
    account: Annotated[str, typer.Option(help="How FLOPs are counted: 6ND, head or attention.")] = "6ND",
    as_json: AsJson = False,
) -> None:
    """Plan the best run for a budget: parameters, tokens, loss, and what other choices cost."""
    from explorer.planning import COMPARED, read_budget, report
    from explorer.planning import plan as plan_run

    given, machine = read_budget(flops, gpu_hours, budget, device, mfu, price)
    laws: list[Candidate] | list[str]
    laws = _fitted(runs, law or ["chinchilla"]) if runs is not None else law or list(COMPARED)
    found = plan_run(
        given,
        loss=loss,
        laws=laws,
        parameters=params,
        tokens=tokens,
        tokens_available=tokens_available,
        inference_tokens=inference_tokens,
        account=account,
        machine=machine,
    )
    if as_json:
        _print_json(found)
    else:
        print(report(found))


def _fitted(file: Path, laws: list[str]) -> list[Candidate]:
    """Each law fitted to a table of runs, with resamples for its intervals."""
    from explorer.fitting import fit as fit_law
    from explorer.planning import fitted

    found = []
    for name in laws:
        chosen, variables, losses = _points(file, name)
        result = fit_law(chosen, variables, losses)
        found.append(fitted(result, variables, result.resample()))
    return found


def _typed(file: Path, text: str) -> Law:
    """The law that a formula over a table's columns states; a likely slip is told on the error stream."""
    from explorer.laws import Formula
    from explorer.runs.table import table_names

    formula = Formula(text, table_names(file))
    for note in formula.notes:
        print(f"note: {note}", file=sys.stderr)
    return formula.law()


def _points(file: Path, law: str | Law) -> tuple[Law, dict[str, Any], Any]:
    """The law, and its variables and the loss as columns of a table of runs."""
    from explorer.laws import law as find_law
    from explorer.runs.table import read_table

    chosen = find_law(law) if isinstance(law, str) else law
    columns = read_table(file, chosen.variables)
    missing = [name for name in chosen.variables if name not in columns]
    if missing:
        raise BadInput(
            f"The law {chosen.name} needs the columns {', '.join(chosen.variables)} and loss; "
            f"{file.name} lacks {', '.join(missing)}."
        )
    return chosen, {name: columns[name] for name in chosen.variables}, columns["loss"]


@runs_cli.command("list")
def runs_list(
    exhibit: Annotated[str | None, typer.Option(help="Only this exhibit's.")] = None,
    limit: Annotated[int, typer.Option(help="At most so many, the newest first.")] = 50,
    store: StorePath = None,
    as_json: AsJson = False,
) -> None:
    """List stored runs, the newest first."""
    with _store(store) as opened:
        runs = opened.runs(exhibit=exhibit, limit=limit)
        if as_json:
            _print_json([{**_plain(run), "agreements": opened.agreements(run.id)} for run in runs])
            return
        for run in runs:
            verdict = "; ".join(f"{one.verdict} ({one.value:.3g})" for one in opened.agreements(run.id))
            when = time.strftime("%Y-%m-%d %H:%M", time.localtime(run.created))
            print(f"{run.id}  {when}  {run.exhibit} {run.trial} {run.size}  {run.state}  {verdict}".rstrip())
        if not runs:
            print(f"No runs in {opened.path}")


@runs_cli.command("show")
def runs_show(run_id: str, store: StorePath = None, as_json: AsJson = False) -> None:
    """Show one run: settings, sealed predictions and verdicts."""
    with _store(store) as opened:
        whole = {
            "run": opened.run(run_id),
            "predictions": opened.predictions(run_id),
            "agreements": opened.agreements(run_id),
        }
        if as_json:
            _print_json(whole)
            return
        run = opened.run(run_id)
        print(f"{run.id}: {run.exhibit} {run.trial} {run.size}, {run.state}. {run.sentence}".rstrip())
        print(
            f"{run.points:,} points in {run.series} series, {run.seeds} seeds, on {run.device or 'no device'}"
        )
        for sealed in opened.predictions(run_id):
            when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(sealed.sealed_at))
            print(f"sealed {when}: {sealed.prediction.name} ({sealed.digest[:12]}) {sealed.prediction.note}")
        for one in opened.agreements(run_id):
            low, high = one.interval or (one.value, one.value)
            print(
                f"{one.name}: {one.verdict}, {one.value:.4g} ({one.coverage:.0%} interval {low:.4g} to {high:.4g}) "
                f"against {one.threshold:g}"
            )


@runs_cli.command("export")
def runs_export(run_id: str, file: Path, store: StorePath = None) -> None:
    """Write all points of a run to a .csv or .parquet file."""
    with _store(store) as opened:
        print(opened.export(run_id, file))


@runs_cli.command("delete")
def runs_delete(
    run_id: str,
    store: StorePath = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete a run with its points, predictions and verdicts."""
    with _store(store) as opened:
        run = opened.run(run_id)
        if not yes:
            typer.confirm(f"Delete {run.id} with its {run.points:,} points?", abort=True)
        opened.delete(run_id)
        print(f"Deleted {run_id}")


@cli.command()
def doctor(store: StorePath = None, as_json: AsJson = False) -> None:
    """Check versions, devices, cores and the store, and say what is missing and how to get it."""
    from explorer.doctor import examine, report

    found = examine(store)
    if as_json:
        _print_json(found)
    else:
        print(report(found))
    if found["problems"]:
        raise SystemExit(1)


def _lab(store: Path | None, device: str, workers: int | None) -> Lab:
    from explorer.lab import Lab

    lab = Lab(store, device=device, workers=workers)
    if device != "auto":
        try:
            lab.engine.check_device(device)
        except ExplorerError:
            lab.close()
            raise
    return lab


def _store(path: Path | None) -> Store:
    """The store as it is; one that is not there is told, not made. Read only if it cannot be written."""
    from explorer.runs import Store
    from explorer.runs.store import default_path

    place = path or default_path()
    if not place.exists():
        raise BadInput(
            f"There is no store {place} yet. Train something first (scaling-explorer train ladder --quick), "
            "or give the right file with --store."
        )
    try:
        return Store(place)  # also notes runs whose process is gone
    except StoreError:
        return Store(place, readonly=True)


if __name__ == "__main__":
    main()
