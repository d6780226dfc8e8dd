"""`robots.txt`: whether a site lets programs read a page."""

from urllib.robotparser import RobotFileParser

PROGRAM = "Chie"


def is_allowed(robots: str, url: str) -> bool:
    parser = RobotFileParser()
    parser.parse(robots.splitlines())
    return parser.can_fetch(PROGRAM, url)
