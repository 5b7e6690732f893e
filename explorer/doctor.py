"""What this computer has and lacks: versions, devices, cores, and the health of the store."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from explorer.engine import Engine
from explorer.errors import ExplorerError
from explorer.log import log_path
from explorer.runs import Store
from explorer.runs.store import default_path

PACKAGES = ("panel", "panel-material-ui", "bokeh", "numpy", "scipy", "torch", "param", "pyarrow")
LITTLE_ROOM = 200 * 2**20  # bytes


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def examine(store: Path | None = None) -> dict[str, Any]:
    """Everything that decides whether the app works here, with a list of problems in sentences."""
    problems: list[str] = []
    versions = {package: _version(package) for package in PACKAGES}
    problems += [
        f"{package} is not installed: pip install scaling-explorer"
        for package, v in versions.items()
        if v is None
    ]
    devices: list[str] = []
    try:
        with Engine(workers=1) as engine:
            devices = engine.devices()
    except ExplorerError as error:
        problems.append(f"A training process cannot be started: {error}")
    path = store or default_path()
    health: dict[str, Any] = {"path": str(path), "exists": path.exists()}
    if path.exists():
        try:
            with Store(path, readonly=True) as opened:
                health |= opened.health()
            if health["predictions altered"]:
                problems.append(f"{health['predictions altered']} sealed predictions in {path} were changed.")
            if health["integrity"] != "ok":
                problems.append(f"The store {path} is damaged: {health['integrity']}. Restore a copy of it.")
        except ExplorerError as error:
            problems.append(str(error))
    folder = next((one for one in (path, *path.parents) if one.is_dir()), Path("/"))
    room = shutil.disk_usage(folder).free
    if room < LITTLE_ROOM:
        problems.append(f"Only {room / 2**20:.0f} MiB are free in {folder}; make room before you train.")
    return {
        "scaling-explorer": _version("scaling-explorer"),
        "python": platform.python_version(),
        "executable": sys.executable,
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        "versions": versions,
        "devices": devices,
        "store": health,
        "log": str(log_path()),
        "free_bytes": room,
        "problems": problems,
    }


def report(found: dict[str, Any]) -> str:
    """The examination as lines of text."""
    lines = [
        f"scaling-explorer {found['scaling-explorer']}, Python {found['python']} on {found['platform']}",
        f"cores: {found['cores']}; devices: {', '.join(found['devices']) or 'none'}",
        "packages: " + ", ".join(f"{name} {v or 'missing'}" for name, v in found["versions"].items()),
        f"store: {found['store']['path']}"
        + (
            f", {found['store'].get('runs', 0)} runs, {found['store'].get('points', 0):,} points, "
            f"integrity {found['store'].get('integrity', 'unknown')}"
            if found["store"]["exists"]
            else ", not made yet"
        ),
        f"details of faults are kept in {found['log']}",
        f"free disk: {found['free_bytes'] / 2**30:.1f} GiB",
    ]
    lines += [f"problem: {sentence}" for sentence in found["problems"]] or ["No problems found."]
    return "\n".join(lines)
