"""The end-to-end suite against two generations of n8n, in both protocol eras."""

import pytest
from tests.contract.n8n import EndToEnd
from tests.fakes.n8n import FakeN8n
from tests.n8n.caller import Era


class TestNewN8n(EndToEnd):
    @pytest.fixture(params=["auto", "legacy"])
    def era(self, request: pytest.FixtureRequest) -> Era:
        era: Era = request.param
        return era


class TestOldN8n(EndToEnd):
    @pytest.fixture
    def fake(self, old_n8n: FakeN8n) -> FakeN8n:
        return old_n8n.reset()
