"""Sample notes in both languages, with the tag `sample`."""

from contextlib import suppress

from chie.errors import ConflictError
from chie.knowledge.note import Note, now
from chie.knowledge.rules import default_space
from chie.knowledge.service import KnowledgeService

TAG = "sample"
AUTHOR = "chie"

SAMPLES = {
    "nginx-413": (
        "nginx answers 413 to large uploads",
        ["nginx", "upload"],
        (
            "Uploads over 1 MB failed with `413 Request Entity Too Large`.\n\n"
            "nginx allows 1 MB unless told otherwise. Raise it where the upload is served, then reload:\n\n"
            "```nginx\nclient_max_body_size 50m;\n```\n\nThe application behind it may have a limit of its own."
        ),
    ),
    "nginx-timeout": (
        "nginx の 504 は upstream の待ち時間で直る",
        ["nginx", "timeout"],
        (
            "レポート生成のように時間のかかる処理で `504 Gateway Time-out` になる。\n\n"
            "`proxy_read_timeout` の既定値は 60 秒。必要な場所だけ延ばし、全体には広げない。\n\n"
            "```nginx\nlocation /reports/ { proxy_read_timeout 300s; }\n```"
        ),
    ),
    "docker-disk": (
        "ビルドサーバーのディスクが Docker で一杯になる",
        ["docker", "ci"],
        (
            "`no space left on device` でビルドが失敗する。原因は古いイメージとビルドキャッシュ。\n\n"
            "- `docker system df` で内訳を見る\n- `docker builder prune --keep-storage 20GB` を毎晩実行する\n\n"
            "**ボリュームは消さないこと。** `--volumes` を付けるとテスト用データベースも消える。"
        ),
    ),
    "docker-dns": (
        "Containers cannot resolve names behind the VPN",
        ["docker", "network", "vpn"],
        (
            "With the VPN up, `docker build` hangs at the first download: the container asks the old DNS server.\n\n"
            "Give the daemon the VPN's resolver in `/etc/docker/daemon.json`, then restart it:\n\n"
            '```json\n{ "dns": ["10.0.0.2"] }\n```'
        ),
    ),
    "postgres-connections": (
        "PostgreSQL: too many clients already",
        ["postgresql", "performance"],
        (
            "`FATAL: sorry, too many clients already` at peak time. Each worker kept a pool of 20 connections.\n\n"
            "| before | after |\n|---|---|\n| 12 workers x 20 | PgBouncer, 60 in all |\n\n"
            "Raising `max_connections` only moves the problem: every connection costs memory."
        ),
    ),
    "postgres-japanese": (
        "日本語の全文検索は標準の tsvector では当たらない",
        ["postgresql", "検索", "日本語"],
        (
            "PostgreSQL の標準設定は空白で単語を区切るので、日本語の文が一語として扱われる。\n\n"
            "二文字の言葉も探すなら、二文字ずつに区切った列を自分で持つか、`pg_bigm` を使う。"
        ),
    ),
    "deploy-friday": (
        "金曜の午後にはデプロイしない",
        ["decision", "deploy"],
        (
            "2026 年 3 月の障害の振り返りで決めた。週末に直す人がいないため。\n\n"
            "例外は、止まっているものを直すときだけ。その場合は二人で作業し、結果をここに書く。"
        ),
    ),
    "outage-roles": (
        "Outages: the first ten minutes",
        ["outage", "on-call"],
        (
            "One person leads, one looks for the cause, one writes to the customers. Agree on it first.\n\n"
            "1. Say in `#outages` what is down, and since when.\n2. Undo the last change if there was one.\n"
            "3. Write down every step with its time; the review needs it."
        ),
    ),
    "outage-review": (
        "障害対応のあとは 3 日以内に振り返る",
        ["障害", "decision"],
        (
            "障害対応が終わったら、記憶が新しいうちに振り返りを行い、メモに残す。\n\n"
            "- 何が起き、いつ気づいたか\n- 復旧までに試したこと\n- 再発を防ぐために変えること（担当と期限）"
        ),
    ),
    "git-case": (
        "A rename that changes only case breaks CI",
        ["git", "ci"],
        (
            "`Button.tsx` became `button.tsx` on a Mac; Linux builds then could not find it.\n\n"
            "macOS does not tell the two apart, so Git never saw the rename. Use `git mv` twice, "
            "or `git config core.ignorecase false` before renaming."
        ),
    ),
}


def add_samples(service: KnowledgeService) -> list[str]:
    """Add missing samples, leave existing ones as they are, and return the ids of those visible to the user."""
    moment, space = now(), default_space(service.viewer())
    for key, (title, tags, content) in SAMPLES.items():
        if service.store.get(_id(key)) is None and service.may_use_id(_id(key), AUTHOR):
            sample = Note(
                id=_id(key),
                title=title,
                content=content,
                tags=[*tags, TAG],
                user_id=AUTHOR,
                origin="person",
                space=space,
                created_at=moment,
                updated_at=moment,
            )
            with suppress(ConflictError):  # somebody else is adding them too
                service.restore(sample)
    return [_id(key) for key in SAMPLES if service.find(_id(key))]


def _id(key: str) -> str:
    return f"k-sample-{key}"
