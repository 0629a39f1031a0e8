"""Reports that are made on request: create, ask for the status, download. Pure.

A report is ready a while after it was asked for, and gone some time later.
"""

from __future__ import annotations

import csv
import io
import zipfile
from typing import TYPE_CHECKING
from uuid import NAMESPACE_URL, uuid5

from .pagers import Reply, whole
from .replies import NO_CONTENT, Answer, json_answer, titled_error
from .shelf import SECOND
from .visit import Refused, Visit

if TYPE_CHECKING:
    from collections.abc import Callable

WORKING = 5 * SECOND
"""µs from a report's creation until it is being made; twice that, and it is done."""

KEPT = 2 * 3_600 * SECOND
"""µs for which a report is kept."""


def create_task(check: Callable[[Visit], object] = lambda _visit: None) -> Reply:
    """Ask for a report: its id is in `data.taskId`."""

    def reply(visit: Visit) -> Answer:
        check(visit)
        name = f"{visit.shop.account}/{visit.resource.name}/{len(visit.shop.tasks)}"
        task_id = str(uuid5(NAMESPACE_URL, name))
        visit.shop.tasks[task_id] = visit.now
        return json_answer({"data": {"taskId": task_id}})

    return reply


def task_status(visit: Visit) -> Answer:
    """How far a report is: new, processing, done, purged."""
    task_id = visit.call.path["task_id"]
    return json_answer({"data": {"id": task_id, "status": _state(visit, task_id)}})


def download_task(visit: Visit) -> Answer:
    """A report's rows; 204 if it has none, 404 while it is not done and after it is gone."""
    if _state(visit, visit.call.path["task_id"]) != "done":
        raise Refused(titled_error("task not found", 404))
    rows = visit.rows(list(visit.shelf.keys))
    return whole(rows, len(rows)) if rows else NO_CONTENT


def create_csv(visit: Visit) -> Answer:
    """Ask for a CSV report under an id of one's own, which must be new."""
    body = visit.section()
    visit.require(body, "id", "reportType", "params")
    report_id = str(body["id"])
    if report_id in visit.shop.tasks:
        visit.refuse("id is not unique")
    visit.shop.tasks[report_id] = visit.now
    return json_answer({"data": "Началось формирование файла/отчета"})


def list_csv(visit: Visit) -> Answer:
    """How far CSV reports are: WAITING, PROCESSING, SUCCESS; all, or those asked for by id."""
    names = {"new": "WAITING", "processing": "PROCESSING", "done": "SUCCESS", "purged": "FAILED"}
    asked = visit.call.query.get("filter[downloadIds]")
    reports = [
        {
            "id": report_id,
            "createdAt": visit.shop.moscow(created).replace("T", " "),
            "status": names[_state(visit, report_id)],
            "name": "report",
            "size": 123,
            "startDate": visit.shop.day(created),
            "endDate": visit.shop.day(created),
        }
        for report_id, created in visit.shop.tasks.items()
        if asked is None or report_id in asked.split(",")
    ]
    return json_answer({"data": reports})


def download_csv(visit: Visit) -> Answer:
    """A CSV report: one file in a ZIP archive."""
    report_id = visit.call.path["downloadId"]
    if _state(visit, report_id) != "done":
        raise Refused(titled_error("report not found", 404))
    rows = visit.rows(list(visit.shelf.keys))
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]) if rows else [])
    writer.writeheader()
    writer.writerows(rows)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        # A fixed date, so that the same seed gives the same bytes.
        archive.writestr(zipfile.ZipInfo(f"{report_id}.csv"), text.getvalue())
    return Answer(200, packed.getvalue(), "application/zip")


def _state(visit: Visit, task_id: str) -> str:
    created = visit.shop.tasks.get(task_id)
    if created is None:
        raise Refused(titled_error("task not found", 404))
    age = visit.now - created
    if age > KEPT:
        return "purged"
    return ("new", "processing", "done")[min(2, age // WORKING)]
