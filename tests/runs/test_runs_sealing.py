"""A sealed prediction stays as it was."""

import hashlib
import json
import sqlite3

import numpy as np
import pytest
from sample_run import new_run

from explorer.errors import BadInput, StoreError
from explorer.records import PredictedCurve, Prediction


def prediction(name="bigger", a=1.5) -> Prediction:
    curve = PredictedCurve("h=64", "power law", np.arange(1.0, 4), [3.0, 2.0, 1.5])
    return Prediction(
        name, "curve", "power law", {"a": np.float64(a)}, [curve], details={"rows": np.int64(3)}
    )


def test_the_digest_is_over_what_is_stored(store, run_id):
    sealed = store.seal(run_id, prediction())
    assert store.predictions(run_id) == [sealed]
    assert sealed.prediction.curve("h=64").x == [1.0, 2.0, 3.0]
    with store._connections.reading() as connection:
        (content,) = connection.execute("SELECT content FROM prediction").fetchone()
    assert hashlib.sha256(content.encode()).hexdigest() == sealed.digest
    assert content == json.dumps(json.loads(content), sort_keys=True, separators=(",", ":"))


def test_equal_predictions_have_equal_digests(store, run_id):
    other = new_run(store)
    assert store.seal(run_id, prediction()).digest == store.seal(other, prediction()).digest
    assert store.seal(other, prediction("else", a=1.6)).digest != store.predictions(other)[0].digest


def test_a_second_seal_of_the_name_is_refused(store, run_id):
    first = store.seal(run_id, prediction())
    with pytest.raises(BadInput, match="already sealed a prediction called 'bigger'"):
        store.seal(run_id, prediction(a=9))
    assert store.predictions(run_id) == [first]


@pytest.mark.parametrize(
    "attack",
    [
        "UPDATE prediction SET content = '{}'",
        "UPDATE OR REPLACE prediction SET digest = 'x'",
        "DELETE FROM prediction",
        "INSERT OR REPLACE INTO prediction SELECT run, name, '{}', 0, '' FROM prediction",
    ],
)
def test_raw_sql_cannot_change_it(store, run_id, attack):
    sealed = store.seal(run_id, prediction())
    stranger = sqlite3.connect(store.path)
    with pytest.raises(sqlite3.IntegrityError, match="sealed prediction"):
        stranger.execute(attack)
    stranger.close()
    assert store.predictions(run_id) == [sealed]


def test_it_goes_only_with_its_run(store, run_id):
    store.seal(run_id, prediction())
    store.finish(run_id, "finished")
    store.delete(run_id)
    assert store.health()["predictions"] == 0


@pytest.mark.parametrize(
    "attack",
    [
        """UPDATE prediction SET content = replace(content, '"a":1.5', '"a":1.6') WHERE name = 'bigger'""",
        "UPDATE prediction SET content = x'00ff' WHERE name = 'bigger'",
        "UPDATE prediction SET digest = 'x' WHERE name = 'bigger'",
    ],
)
def test_what_was_changed_past_the_triggers_is_told(store, run_id, attack):
    store.seal(run_id, prediction("first"))
    store.seal(run_id, prediction())
    assert store.health()["predictions altered"] == 0
    stranger = sqlite3.connect(store.path)
    stranger.execute("DROP TRIGGER prediction_is_not_changed")
    assert stranger.execute(attack).rowcount == 1
    stranger.commit()
    stranger.close()
    with pytest.raises(
        StoreError, match=f"prediction 'bigger' of run {run_id} was changed after it was seal"
    ):
        store.predictions(run_id)
    health = store.health()
    assert (health["predictions"], health["predictions altered"]) == (2, 1)


def test_how_many_are_sealed(store, run_id):
    assert store.sealed_count(run_id) == 0
    store.seal(new_run(store), prediction())
    store.seal(run_id, prediction("first"))
    store.seal(run_id, prediction())
    assert store.sealed_count(run_id) == 2
    with pytest.raises(BadInput, match="no run"):
        store.sealed_count("?")
