"""What a run leaves behind: data files, charts, the page docs/benchmarks.md, and lines for people and programs."""

import csv
import datetime
import importlib
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from harness import chart, machine, peers
from harness.options import BENCH, CANDIDATE, PROJECT, SCENARIOS, Options
from harness.results import Metric, Results, Spread, read_samples
from harness.rounds import Run

RUN_COLUMNS = ["scenario", "date", "commit", "candidate", "machine", "settings", "versions", "flags", "work"]

BUSY_MACHINE_PERCENT = 10
UNEQUAL_CONNECTIONS = 0.15
SPARE_CONNECTIONS = 3
"""So many more are no inequality: nginx keeps its connections for each port of the replica."""

INTRODUCTION = """# Benchmarks

This page is written by `bench/run`; change the harness, not the page. [bench/README.md](../bench/README.md) says how to run it and what
such numbers can and cannot show. The samples stand in [benchmarks/data](benchmarks/data).

Each proxy runs on one core with all of its threads, so that a JIT compiler and a garbage collector are counted. Load and replicas run on
another core. Proxies are measured in turn (peer, gateway, next peer, gateway \u2026); a ratio compares the two neighbours of one round, and
its median and range over the rounds stand in the peer's row: below 1 the gateway needs less. A name with a colon is a variant of the
gateway, and its ratio is the variant's value divided by the gateway's. CPU is user and system time of the process,
divided by requests or events. Medians marked \u2020 come from samples that spread by more than 30 %.

**In the gateway's disfavour:** the replica sends a usage event only to those that ask. The gateway asks for each stream, reads the event and
cuts it out; the bare proxies never carry it (`--always-usage` sends it through all of them).
"""


def scenario_module(name: str) -> ModuleType:
    return importlib.import_module(f"scenarios.{name}")


def commit() -> str:
    done = subprocess.run(["git", "-C", str(PROJECT), "describe", "--always", "--dirty", "--exclude=*"], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else "none"


def save(run: Run, scenario: str, data: Path) -> None:
    """Writes the samples of one scenario and its row of runs.csv; both replace those of an earlier run."""
    data.mkdir(parents=True, exist_ok=True)
    run.results.write(data / f"{scenario}.csv")
    options = run.options
    rows = {row["scenario"]: row for row in read_runs(data)}
    rows[scenario] = {
        "scenario": scenario,
        "date": datetime.date.today().isoformat(),
        "commit": commit(),
        "candidate": run.candidate.name,
        "machine": machine.description(),
        "settings": f"{options.rounds} rounds of {options.seconds:g} s, {options.connections} connections"
                    + "".join(f", {label} has {name}={value}"
                              for label, setting in options.variants.items() for name, value in setting.items())
                    + (", usage event to all" if options.always_usage else "") + (", quick" if options.quick else ""),
        "versions": "; ".join(f"{p.name} {p.version}" for p in [run.candidate, *run.others] if p.version and not p.is_variant),
        "flags": "; ".join(f"{name} {flags}" for name, flags in run.flags.items() if ":" not in name),
        "work": "; ".join(f"{name} {note}" for name, note in run.notes.items()),
    }
    with (data / "runs.csv").open("w", newline="") as file:
        out = csv.DictWriter(file, RUN_COLUMNS, lineterminator="\n")
        out.writeheader()
        out.writerows(rows[name] for name in [*SCENARIOS, *sorted(set(rows) - set(SCENARIOS))] if name in rows)


def read_runs(data: Path) -> list[dict[str, str]]:
    path = data / "runs.csv"
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def with_range(spread: Spread, metric: Metric) -> str:
    mark = "\u2020" if metric.chart and spread.wide else ""
    median, low, high = (chart.number(v, metric.digits) for v in (spread.median, spread.low, spread.high))
    return f"{median}{mark} [{low} to {high}]"


def ratio_text(ratio: Spread | None) -> str:
    return "" if ratio is None else f"{ratio.median:.2f} [{ratio.low:.2f} to {ratio.high:.2f}]"


def warnings(results: Results, scenario: str, candidate: str) -> Iterator[str]:
    """What makes the figures less than comparable: a machine that isn't quiet, or unequal upstream connections."""
    shares = [s.value for samples in results.of(scenario, "others").values() for s in samples]
    share = Spread.of(shares).median if shares else 0
    if share > BUSY_MACHINE_PERCENT:
        yield f"Provisional: other processes took {share:.0f} % of the proxy's core while this was measured."
    own = results.spread(scenario, "upstream", candidate)
    for peer in results.of(scenario, "upstream"):
        spread = results.spread(scenario, "upstream", peer)
        if own is not None and spread is not None and \
                abs(spread.median - own.median) > max(SPARE_CONNECTIONS, UNEQUAL_CONNECTIONS * own.median):
            yield f"Not equal: {peer} used {spread.median:.0f} connections to its replicas, {candidate} {own.median:.0f}."


def table(results: Results, scenario: str, metrics: list[Metric], candidate: str) -> list[list[str]]:
    """Head and rows: one row for each proxy, the candidate first."""
    present = [m for m in metrics if results.of(scenario, m.name)]
    head = ["", *(f"{m.title}{', ' + m.unit if m.unit else ''}" for m in present), *(f"ratio: {m.name}" for m in present if m.ratio)]
    rows = [head]
    names = list(results.of(scenario, present[0].name))
    for name in sorted(names, key=lambda n: n != candidate):
        row = [name]
        for m in present:
            spread = results.spread(scenario, m.name, name)
            row.append(with_range(spread, m) if spread else "")
        row += ["" if name == candidate else ratio_text(results.ratio(scenario, m.name, candidate, name)) for m in present if m.ratio]
        rows.append(row)
    return rows


def markdown(rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    return "\n".join(lines)


def plain(rows: list[list[str]]) -> str:
    """For a terminal, turned on its side: a line for each metric, a column for each proxy."""
    turned = [list(column) for column in zip(*rows)]
    widths = [max(len(row[i]) for row in turned) for i in range(len(turned[0]))]
    return "\n".join("  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:]))]) for row in turned)


def compared(rows: list[dict[str, str]]) -> str:
    """A table of the proxies that appear in the data and of the work that each does."""
    names = dict.fromkeys(version.split(" ")[0] for row in rows for version in row["versions"].split("; ") if version)
    modules = [(name, peers.load(name)) for name in names]
    return markdown([["", "what it is", "what it does"], *([name, m.TITLE, m.DOES] for name, m in modules)]) + "\n"


def provenance(row: dict[str, str]) -> str:
    """Where a scenario's figures come from: day, commit, host and kernel, settings, versions and flags, what each proxy did."""
    flags = f" Java's options: {row['flags']}." if row.get("flags") else ""
    return f"<sub>{row['date']}, commit {row['commit']}; {row['machine']}; {row['settings']}; {row['versions']}. {row['work']}.{flags}</sub>\n"


def limits() -> str:
    """What the numbers cannot show, as bench/README.md has it."""
    _, _, rest = (BENCH / "README.md").read_text().partition("## What the numbers cannot show\n")
    text, _, _ = rest.partition("\n## ")
    return "## What the numbers cannot show\n" + text


def write_page(out: Path) -> None:
    """Writes charts and page from the data files alone."""
    folder, data = out / "benchmarks", out / "benchmarks" / "data"
    rows = read_runs(data)
    page = [INTRODUCTION, compared(rows)]
    for row in rows:
        name, candidate = row["scenario"], row["candidate"]
        module, results = scenario_module(name), read_samples(data / f"{name}.csv")
        page.append(f"## {module.TITLE}\n\n{module.QUESTION}\n")
        for variant in results.scenarios():
            for metric in module.METRICS:
                if metric.chart and results.of(variant, metric.name):
                    file = f"{variant}-{metric.name}.svg"
                    title = f"{module.TITLE}: {metric.title}" if variant == name else f"{module.TITLE} ({variant}): {metric.title}"
                    (folder / file).write_text(chart_of(results, variant, metric, candidate, title))
                    page.append(f"![{title}](benchmarks/{file})\n")
            page.append((f"`{variant}`\n\n" if variant != name or len(results.scenarios()) > 1 else "")
                        + markdown(table(results, variant, [m for m in module.METRICS if not m.detail], candidate)) + "\n")
            page += [f"**{warning}**\n" for warning in warnings(results, variant, candidate)]
        page.append(provenance(row))
    page.append(limits())
    out.mkdir(parents=True, exist_ok=True)
    (out / "benchmarks.md").write_text("\n".join(page))


def chart_of(results: Results, scenario: str, metric: Metric, candidate: str, title: str) -> str:
    """A bar for each proxy; CPU is drawn in its two parts."""
    bars = []
    in_parts = metric.name == "cpu"
    for name in sorted(results.of(scenario, metric.name), key=lambda n: n != candidate):
        spread = results.spread(scenario, metric.name, name)
        user = results.spread(scenario, "user", name) if in_parts else None
        assert spread is not None
        bars.append(chart.Bar(name, spread, name == candidate, user.median if user else None))
    return chart.draw(title, metric.unit, bars, metric.digits, ("user", "system") if in_parts else None)


def machine_lines(results: Results, modules: dict[str, ModuleType], options: Options) -> Iterator[str]:
    """VALUE and then RATIO lines of what is compared; a scenario's first metric goes by the scenario's name, others as scenario.metric."""
    label = "gateway" if options.candidate == CANDIDATE else options.candidate
    values, ratios = [], []
    for scenario in results.scenarios():
        metrics = modules[scenario].METRICS
        for metric in metrics:
            name = scenario if metric is metrics[0] else f"{scenario}.{metric.name}"
            for peer in results.of(scenario, metric.name) if metric.ratio or metric.chart or metric.value else ():
                spread = results.spread(scenario, metric.name, peer)
                assert spread is not None
                variant = peer.startswith(options.candidate + ":")
                shown = label + peer[len(options.candidate):] if variant or peer == options.candidate else peer
                values.append(f"VALUE {name} {shown} {spread.median:.2f} [{spread.low:.2f}..{spread.high:.2f}] {metric.unit}".rstrip())
                ratio = results.ratio(scenario, metric.name, options.candidate, peer) if metric.ratio and peer != options.candidate else None
                if ratio is not None:
                    pair = f"{shown}/{label}" if variant else f"{label}/{peer}"
                    ratios.append(f"RATIO {name} {pair} {ratio.median:.2f} [{ratio.low:.2f}..{ratio.high:.2f}]")
    yield from values
    yield from ratios
