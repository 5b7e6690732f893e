"""Controls, readouts, verdict and run bar, as Python objects."""

import pytest

from explorer.agreement import Agreement
from explorer.exhibits import find
from widgets import ChoiceSelect, ExhibitView, QuantitySlider, ReadoutPanel, VerdictCard
from widgets.run_bar import duration
from widgets.verdict import sentence

Ladder = find("ladder")


@pytest.fixture
def moves():
    return []


def test_dragging_moves_the_exhibit(moves):
    exhibit = Ladder()
    control = QuantitySlider(exhibit, "alpha", lambda: moves.append(exhibit.alpha))
    control.slider.value = 450
    assert moves == [0.5]


def test_a_log_slider_holds_the_exponent(moves):
    exhibit = Ladder()
    control = QuantitySlider(exhibit, "N", lambda: moves.append(exhibit.N))
    assert (control.slider.start, control.slider.end, control.slider.step) == (0, 400, 1)
    control.slider.value = 400 * 3 / 7
    assert moves == [pytest.approx(1e9)]


def test_typing_takes_the_fields_notation_and_refuses_in_words(moves):
    exhibit = Ladder()
    control = QuantitySlider(exhibit, "N", lambda: moves.append(exhibit.N))
    control.field.value = "7B"
    assert moves == [7e9]
    control.field.value = "many"
    assert control.field.error_state
    assert "'many' is not a number" in control.field.helper_text
    assert exhibit.N == 7e9
    control.sync()
    assert not control.field.error_state


def test_showing_a_value_moves_nothing(moves):
    exhibit = Ladder()
    control = QuantitySlider(exhibit, "D", lambda: moves.append(exhibit.D))
    exhibit.move(N=1e9)
    control.sync()
    assert control.slider.value == pytest.approx(400 * (13.991 - 8) / 6, abs=0.1)
    assert control.field.value == "98T"
    assert moves == []


def test_a_value_beyond_the_slider_rests_at_its_end():
    exhibit = Ladder()
    control = QuantitySlider(exhibit, "C", lambda: None)
    exhibit.restore({"N": 1e13, "D": 1e14})
    control.sync()
    assert control.slider.value == 400
    assert control.field.value == "6e27"
    assert pytest.approx(6e27) == exhibit.C


def test_choice_moves_the_exhibit(moves):
    exhibit = Ladder()
    control = ChoiceSelect(exhibit, "account", lambda: moves.append(exhibit.account))
    control.select.value = "6ND + head"
    assert moves == ["6ND + head"]


def test_readouts_are_one_text():
    panel = ReadoutPanel(Ladder())
    assert "<dt>N*, best size</dt><dd>73.02B</dd>" in panel._pane.object


def agreement(**more):
    return Agreement(
        **{
            "name": "gap",
            "claim": "gap < 0.03 <script>",
            "value": 0.01,
            "threshold": 0.03,
            "interval": (0.008, 0.012),
            "verdict": "agrees",
            "seeds": 3,
            "points": 24,
            "baselines": {"a straight line": 0.09},
            **more,
        }
    )


def test_the_verdict_is_a_sentence():
    assert sentence(agreement()) == (
        "agrees: 0.01 (90% interval 0.008 to 0.012), where agreement means under 0.03; 24 points, 3 seeds."
    )
    assert "over 0.03" in sentence(agreement(sense="above"))


def test_the_verdict_card_escapes_what_it_shows():
    card = VerdictCard()
    card.display([agreement()])
    assert "&lt;script&gt;" in card._pane.object
    assert "<script>" not in card._pane.object
    assert "a straight line" in card._pane.object
    card.display([], "Not yet.")
    assert "Not yet." in card._pane.object


@pytest.mark.parametrize(("seconds", "said"), [(12.4, "12 s"), (300, "5 min"), (7200, "2.0 h")])
def test_durations_in_words(seconds, said):
    assert duration(seconds) == said


def test_the_view_is_drawn_from_the_declaration(tmp_path):
    from explorer.lab import Lab

    lab = Lab(tmp_path / "runs.sqlite", device="cpu")
    try:
        view = ExhibitView(Ladder(), lab)
        assert set(view.controls) == set(Ladder.sliders())
        assert view.training is None
        assert "repetition" not in view.figures, "a figure that is not shown is not drawn"
        view.chooser.value = [*view.chooser.value, "repetition"]
        assert "repetition" in view.figures
        assert view.preset.value.startswith("Besiroglu, as printed"), "the defaults are a published set"
        view.restore({"E": "1.7"})
        assert view.preset.value == "none"
        view.restore({"alpha": "0.4"})
        assert view.controls["alpha"].field.value == "0.4"
        view.close()
    finally:
        lab.close()
