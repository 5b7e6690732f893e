"""The page of one exhibit: its view, restored from the address and kept in step with it."""

from __future__ import annotations

import panel as pn
import panel_material_ui as pmui

from explorer.app.address import AddressBar, read_address
from explorer.app.frame import frame, problem
from explorer.errors import BadInput
from explorer.exhibits import find
from explorer.lab import Lab
from widgets import ExhibitView

RUN = "run"  # the address may name a stored run beside the sliders


def exhibit_page(slug: str, lab: Lab, search: str = "", session: str = "page") -> pmui.Page:
    """The exhibit `slug` with the sliders and the run that `search` names.

    What cannot be used in the address is told in one sentence, and the page opens with its defaults.
    """
    try:
        cls = find(slug)
    except BadInput as error:
        return frame(problem(str(error)))
    exhibit, problems = cls(), []
    try:
        values = read_address(search)
    except ValueError:
        values = {}
        problems.append(
            problem("The address holds more values than this page has sliders. It was left aside.")
        )
    run_id = values.pop(RUN, None)
    try:
        exhibit.restore(values, trusted=False)
    except BadInput as error:
        problems.append(problem(f"The address could not be used. {error}"))
    if run_id is not None:
        try:
            lab.store.run(run_id)
        except BadInput as error:
            problems.append(problem(str(error)))
            run_id = None
    address = AddressBar()

    def keep_address() -> None:
        chosen = {RUN: view.training.id} if view.training is not None else {}
        address.write({**exhibit.changed_values(), **chosen})

    view = ExhibitView(exhibit, lab, session=session, run_id=run_id, moved=keep_address)
    pn.state.on_session_destroyed(lambda _: view.close())
    return frame(*problems, address, view, title=cls.question())
