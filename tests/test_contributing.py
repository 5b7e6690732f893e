"""The exhibit in CONTRIBUTING.md is really found, predicts, trains and is judged."""

import re
import sys
from pathlib import Path

from explorer.exhibits import registry
from explorer.lab import Lab

GUIDE = Path(__file__).parents[1] / "CONTRIBUTING.md"


def test_the_example_works(tmp_path, monkeypatch):
    law, experiment, exhibit = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.S)
    folder = tmp_path / "my_exhibit"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "law.py").write_text(law)
    (folder / "experiment.py").write_text(experiment)
    (folder / "exhibit.py").write_text(exhibit.replace("explorer.exhibits.my_exhibit", "my_exhibit"))
    monkeypatch.syspath_prepend(str(tmp_path))

    entry = registry._load("my-exhibit", lambda: registry._exhibit_class("my_exhibit.exhibit"), 10)
    assert entry.cls is not None, entry.error
    assert "torch" not in sys.modules["my_exhibit.exhibit"].__dict__
    monkeypatch.setattr("explorer.lab.find", lambda slug: entry.cls)
    lab = Lab(tmp_path / "runs.sqlite", device="cpu")
    try:
        exhibit = lab.load("my-exhibit", E=1.5)
        assert exhibit.curves("loss")[0].y.min() > 1.5
        training = exhibit.train(size="quick").wait(60)
        assert training.run.state == "finished", training.run.sentence
        assert training.run.points == 300
        (verdict,) = training.agreements()
        assert verdict.verdict == "agrees"
    finally:
        lab.close()
