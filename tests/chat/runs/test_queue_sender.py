"""As whom a message is sent that a process left behind."""

from pathlib import Path

import pytest

from chie.access.identity import User
from chie.access.users import UserFile
from chie.chat.runs.queue_sender import sender_of


@pytest.mark.req("AG-12")
def test_message_of_a_removed_user_is_not_sent(home: Path) -> None:
    assert sender_of("aki") == User("aki"), "without a list of users, nobody was removed"
    users = UserFile(home / "users.json")
    users.add("aki", admin=True)
    users.add("ben")
    assert sender_of("aki") == User("aki"), "without the rights of an admin"
    users.revoke("aki")
    assert sender_of("aki") is None
    assert sender_of("ben") == User("ben")
