"""The workflows page in a real browser, with an n8n on loopback."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.e2e.app_process import app_process
from tests.e2e.conftest import OpenScreen
from tests.e2e.test_accessibility import serious_findings
from tests.fakes.n8n import KEY, FakeN8n
from tests.fakes.n8n_mcp import TOKEN
from tests.n8n.test_api import FLOW, backed_up, link, node

ERROR = {"message": "接続できません", "description": "ECONNREFUSED"}


@pytest.fixture(scope="module")
def n8n() -> Iterator[FakeN8n]:
    with FakeN8n(2) as fake:
        flow = fake.add_workflow(**FLOW, active=True, tags=[{"id": "t", "name": "店"}])
        fake.add_workflow(name="Nightly backup")
        fake.add_execution(workflowId=flow["id"])
        runs = {"Webhook": [{"executionTime": 1, "data": {"main": [[{"json": {}}]]}}], "整形": [{"error": ERROR}]}
        result = {"resultData": {"runData": runs, "error": ERROR, "lastNodeExecuted": "整形"}}
        data = {"name": flow["name"], "nodes": FLOW["nodes"]}
        fake.add_execution(workflowId=flow["id"], status="error", data=result, workflowData=data)
        yield fake


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def address(n8n: FakeN8n, folder: Path) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("N8N_URL", n8n.url)
        environment.setenv("N8N_API_KEY", KEY)
        environment.setenv("N8N_BACKUP_DIR", str(folder / "backups"))
        with app_process(folder) as (address, _):
            yield address


def test_failed_workflows_come_first_and_show_the_failed_node(open_screen: OpenScreen) -> None:
    screen = open_screen("/#/workflows", locale="ja")
    page = screen.page
    rows = page.locator(".wf-item")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("注文の通知")
    expect(rows.first).to_contain_text("失敗")
    page.locator("#main").get_by_role("searchbox").fill("nightly")
    expect(rows).to_have_count(1)
    page.locator("#main").get_by_role("searchbox").fill("")
    rows.first.click()
    expect(page.get_by_role("heading", level=1, name="注文の通知")).to_be_visible()
    expect(page.locator(".wf-node")).to_have_count(3)
    expect(page.locator(".wf-line")).to_have_count(2)
    expect(page.locator(".wf-node.failed")).to_contain_text("整形")
    expect(page.get_by_role("alert")).to_contain_text("「整形」で失敗")
    expect(page.get_by_role("alert")).to_contain_text("接続できません")


def test_graph_has_a_list_and_a_link_to_n8n(open_screen: OpenScreen, n8n: FakeN8n) -> None:
    screen = open_screen(f"/#/workflows/{next(iter(n8n.workflows))}")
    screen.page.get_by_text("As a list").click()
    expect(screen.page.locator(".wf-as-list li").nth(1)).to_contain_text("整形 set")
    opening = screen.page.get_by_role("link", name="Open in n8n")
    expect(opening).to_have_attribute("href", f"{n8n.url}/workflow/{next(iter(n8n.workflows))}")
    expect(opening).to_have_attribute("rel", "noreferrer noopener")


def test_a_backup_is_compared_and_restored(open_screen: OpenScreen, n8n: FakeN8n, folder: Path) -> None:
    flow = n8n.add_workflow(name="夜間処理", nodes=[node("A"), node("B", at=(300, 0))], connections=link("A", "B"))
    backed_up(folder, n8n, flow)
    n8n.workflows[flow["id"]] |= {"name": "Night shift", "nodes": [node("A")], "connections": {}}
    screen = open_screen(f"/#/workflows/{flow['id']}")
    page = screen.page
    page.get_by_role("button", name="Compare").first.click()
    expect(page.locator(".wf-differences ins").filter(has_text="夜間処理")).to_be_visible()
    expect(page.locator(".wf-differences .plus").first).to_contain_text("B added")
    screen.button("Restore").click()
    expect(page.get_by_role("heading", level=1, name="夜間処理")).to_be_visible()
    expect(page.locator(".wf-node")).to_have_count(2)
    assert n8n.workflows[flow["id"]]["name"] == "夜間処理"


def test_a_backup_that_differs_in_pinned_data_alone_can_be_restored(
    open_screen: OpenScreen, n8n: FakeN8n, folder: Path
) -> None:
    pins = {"A": [{"json": {"番号": 1}}]}
    flow = n8n.add_workflow(name="固定データ", nodes=[node("A")], pinData=pins)
    backed_up(folder, n8n, flow)
    n8n.workflows[flow["id"]]["pinData"] = {}
    screen = open_screen(f"/#/workflows/{flow['id']}")
    screen.page.get_by_role("button", name="Compare").first.click()
    expect(screen.page.locator(".wf-differences")).to_have_text("Other fields: pinData")
    screen.button("Restore").click()
    expect(screen.page.get_by_text("Restored.")).to_be_visible()
    assert n8n.workflows[flow["id"]]["pinData"] == pins


@pytest.fixture
def trying_app(tmp_path: Path) -> Iterator[tuple[str, FakeN8n]]:
    """An app with the token of n8n's own MCP server, whose only workflow has failed."""
    with FakeN8n(2) as fake, pytest.MonkeyPatch.context() as environment:
        failing = node("計算", "n8n-nodes-base.code", parameters={"fail": "合計がありません"})
        nodes = [node("Webhook", "n8n-nodes-base.webhook"), node("Total", parameters={"set": {"n": 1}}), failing]
        flow = fake.add_workflow(name="集計", nodes=nodes, connections=link("Webhook", "Total", "計算"))
        fake.runner.run(flow, "Webhook", {"Webhook": [{"json": {"注文": 3}}]})
        for name, value in {"URL": fake.url, "API_KEY": KEY, "MCP_TOKEN": TOKEN}.items():
            environment.setenv(f"N8N_{name}", value)
        with app_process(tmp_path) as (address, _):
            yield address, fake


@pytest.mark.req("NP-3")
@pytest.mark.parametrize(
    ("locale", "words"),
    [
        ("en", ("Try this fix", "Node", "Parameters", "Permission needed", "Fixed", "Still failing", "not valid JSON")),
        (
            "ja",
            (
                "この修正を試す",
                "ノード",
                "パラメーター",
                "許可が必要です",
                "修正できました",
                "まだ失敗します",
                "正しい JSON",
            ),
        ),
    ],
)
def test_fix_is_tried_on_the_execution_that_failed(
    open_screen: OpenScreen, trying_app: tuple[str, FakeN8n], locale: str, words: tuple[str, ...]
) -> None:
    try_it, node_label, parameters, permission, fixed, failing, invalid = words
    address, fake = trying_app
    screen = open_screen(f"/#/workflows/{next(iter(fake.workflows))}", locale=locale, at=address)
    page = screen.page
    page.get_by_role("button", name=try_it).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label(node_label)).to_have_value("計算")
    area = dialog.get_by_role("textbox", name=parameters)
    expect(area).to_have_value(re.compile("合計がありません"))
    area.fill("{")
    expect(dialog).to_contain_text(invalid)
    expect(dialog.get_by_role("button", name=try_it)).to_be_disabled()
    area.fill('{"set": {"合計": 3}}')
    dialog.get_by_role("button", name=try_it).click()
    expect(dialog.get_by_role("status")).to_contain_text(permission)
    assert fake.runner.ran.count("計算") == 1  # only in the execution that failed
    expect(dialog.get_by_role("button", name=try_it)).to_be_disabled()
    assert serious_findings(screen) == []
    dialog.get_by_role("checkbox").check()
    dialog.get_by_role("button", name=try_it).click()
    expect(dialog.get_by_role("status")).to_contain_text(fixed)
    expect(dialog.get_by_role("status")).to_contain_text("Webhook")
    assert serious_findings(screen) == []
    area.fill('[{"op": "setField", "node": "Total", "path": "parameters", "value": {"fail": "在庫なし"}}]')
    dialog.get_by_role("button", name=try_it).click()
    expect(dialog.get_by_role("status")).to_contain_text(permission)
    expect(dialog.get_by_role("checkbox")).not_to_be_checked()  # it was given for another change
    dialog.get_by_role("checkbox").check()
    dialog.get_by_role("button", name=try_it).click()
    expect(dialog.get_by_role("status")).to_contain_text(failing)
    expect(dialog.get_by_role("status")).to_contain_text("在庫なし")
    assert [own["name"] for own in fake.workflows.values()] == ["集計"]


@pytest.mark.req("NP-3")
@pytest.mark.parametrize(
    ("locale", "words"),
    [
        ("en", ("Try this fix", "Save this fix", "Parameters", "Saved.")),
        ("ja", ("この修正を試す", "この修正を保存", "パラメーター", "保存しました。")),
    ],
)
def test_fix_that_was_proven_is_saved(
    open_screen: OpenScreen, trying_app: tuple[str, FakeN8n], locale: str, words: tuple[str, ...]
) -> None:
    try_it, save_it, parameters, saved = words
    address, fake = trying_app
    workflow_id = next(iter(fake.workflows))
    small = {"width": 1000, "height": 560}
    screen = open_screen(f"/#/workflows/{workflow_id}", locale=locale, at=address, viewport=small)
    page = screen.page
    page.get_by_role("button", name=try_it).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name=parameters).fill('{"set": {"合計": 3}}')
    dialog.get_by_role("button", name=try_it).click()
    dialog.get_by_role("checkbox").check()
    expect(dialog.get_by_role("button", name=save_it)).to_have_count(0)
    dialog.get_by_role("button", name=try_it).click()
    save = dialog.get_by_role("button", name=save_it)
    expect(save).to_be_in_viewport(ratio=1)
    expect(dialog.locator(".notice.good strong")).to_be_in_viewport(ratio=1)
    assert serious_findings(screen) == []
    fake.workflows[workflow_id]["versionId"] = "somebody-else"
    save.click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    assert fake.workflows[workflow_id]["nodes"][2]["parameters"] == {"fail": "合計がありません"}
    dialog.get_by_role("button", name=try_it).click()
    expect(dialog.get_by_role("alert")).to_have_count(0)
    save.click()
    expect(page.get_by_text(saved)).to_be_visible()
    expect(dialog).to_have_count(0)
    assert fake.workflows[workflow_id]["nodes"][2]["parameters"] == {"set": {"合計": 3}}
    expect(page.locator(".wf-backup")).to_have_count(1)


def test_without_the_token_the_page_says_what_it_would_add(open_screen: OpenScreen, n8n: FakeN8n) -> None:
    screen = open_screen(f"/#/workflows/{next(iter(n8n.workflows))}")
    expect(screen.page.get_by_text("To try a fix on this execution, set N8N_MCP_TOKEN")).to_be_visible()
    expect(screen.page.get_by_role("button", name="Try this fix")).to_have_count(0)


@pytest.fixture
def busy_app(tmp_path: Path) -> Iterator[str]:
    """An app whose n8n has more workflows than fit on a page."""
    with FakeN8n(2) as fake, pytest.MonkeyPatch.context() as environment:
        for number in range(250):
            fake.add_workflow(name=f"Flow {number:03}")
        fake.add_workflow(name="最後の通知")
        environment.setenv("N8N_URL", fake.url)
        environment.setenv("N8N_API_KEY", KEY)
        with app_process(tmp_path) as (address, _):
            yield address


def test_filter_covers_pages_that_are_not_loaded_yet(open_screen: OpenScreen, busy_app: str) -> None:
    screen = open_screen("/#/workflows", at=busy_app)
    page = screen.page
    count = page.locator("#main [role=status]")
    expect(count).to_have_text("100 workflows so far")
    page.locator("#main").get_by_role("searchbox").fill("最後")
    expect(page.locator(".wf-item")).to_have_text(re.compile("最後の通知"))
    expect(count).to_have_text("1 workflow")
    page.locator("#main").get_by_role("searchbox").fill("nobody has this")
    expect(count).to_have_text("No workflow matches.")
    page.locator("#main").get_by_role("searchbox").fill("")
    expect(count).to_have_text("251 workflows")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious_and_nothing_is_cut_off(open_screen: OpenScreen, n8n: FakeN8n, theme: str) -> None:
    narrow = {"width": 360, "height": 740}
    screen = open_screen("/#/workflows", color_scheme=theme, bypass_csp=True, viewport=narrow)
    expect(screen.page.locator(".wf-item").first).to_be_visible()
    assert serious_findings(screen) == []
    screen.open(f"/#/workflows/{next(iter(n8n.workflows))}")
    expect(screen.page.get_by_role("alert")).to_be_visible()
    assert serious_findings(screen) == []
    assert screen.script("document.documentElement.scrollWidth") <= narrow["width"]
