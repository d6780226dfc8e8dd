"""`chie usage`: tokens and cost of a month on the command line."""

import asyncio
from datetime import date, datetime, timedelta

import click

from chie.chat.sessions.database import Database
from chie.chat.sessions.entities import now
from chie.chat.sessions.upgrade import upgrade
from chie.chat.sessions.usage import UsageStore
from chie.chat.usage.months import Month
from chie.chat.usage.report import Group, Report, Selection, Sum, UsageReports
from chie.database.engine import sqlalchemy_url
from chie.database.settings import DatabaseSettings, database_url
from chie.settings import load


@click.command()
@click.option("--month", type=click.DateTime(["%Y-%m"]), help="Such as 2026-11. Default: this month, in UTC.")
@click.option("--all", "everyone", is_flag=True, help="Of all users; for admins.")
@click.option("--csv", "as_csv", is_flag=True, help="One line per day, user, agent and model, as CSV.")
def usage(month: datetime | None, *, everyone: bool, as_csv: bool) -> None:
    """Show the tokens that models have used, and what they cost."""
    chosen = Month(month.year, month.month) if month else Month.of(now())
    selection = Selection(first=chosen.first, last=_last_day(chosen), everyone=everyone)
    click.echo(asyncio.run(_read(selection, as_csv=as_csv)), nl=False)


def _last_day(month: Month) -> date:
    return (month.renewal - timedelta(days=1)).date()


async def _read(selection: Selection, *, as_csv: bool) -> str:
    url = sqlalchemy_url(database_url(load(DatabaseSettings)))
    upgrade(url)
    database = Database(url)
    try:
        reports = UsageReports(UsageStore(database))
        return await reports.csv(selection) if as_csv else _table(await reports.report(selection), selection)
    finally:
        await database.close()


def _table(report: Report, selection: Selection) -> str:
    groups = [("By model", report.models), ("By agent", report.agents)]
    if selection.everyone:
        groups.append(("By user", report.users))
    lines = [f"{report.first} to {report.last}: {_sums(report.total)}"]
    for title, found in groups:
        lines += ["", title, *map(_line, found)] if found else []
    return "\n".join(lines) + "\n"


def _line(group: Group) -> str:
    return f"  {group.name}{f' ({group.host})' if group.host else ''}: {_sums(group)}"


def _sums(found: Sum) -> str:
    cost = f"${found.cost:,.2f}" + (" + unknown" if found.unpriced_requests else "")
    tokens = f"{found.input_tokens:,} tokens in ({found.cached_tokens:,} cached), {found.output_tokens:,} out"
    return f"{cost}, {tokens}, {found.requests:,} requests"
