"""Words that stand in many different failures, counted over bench/sets/dev:
they say little about which one it is."""

STOP = frozenset(
    """
to in not the is for of at with from or no by on an and you this be has it that are was can does your but have as a
error failed exit code file found could line cannot unable when errors occurred may if did do so any
エラー 失敗 異常終了
""".split()
)
COMMON = frozenset(
    """
build run find status command server id test request version denied call resolve directory exist type connect total
operation most last use port api because exception recent such module process get already host task main required
running missing while out current time after resource failure project key access install name response
compile available package create waiting app caused used see connection unknown start too unexpected please tests
using user versions invalid variable url all set state more string here packages passed files expected
update object function successfully started source were complete node import returned target solve container
daemon image path into service compilation execute requested match http some following try configuration execution
what failures trying warning which reading default reason provided fatal installing calling only
application result release log starting environment compiling previous building details read load done remote must
creating been problem argument ok return now new other open first message changed
接続 処理 確認 中止 実行 終了 詳細 参照 存在 開始 コマンド ファイル サーバー 場所 更新 取得 登録 使用 関数 設定
保存 起動 中断 警告 致命的 行 行目 例外 完了
""".split()
)
