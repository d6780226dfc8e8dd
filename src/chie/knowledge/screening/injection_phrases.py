"""Phrases that address a model, in English and Japanese. Patterns have at most one gap, so that they stay linear."""
# ruff: noqa: E501 - one phrase per line

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

FlagKind = Literal["instruction", "hidden_characters", "tool_call", "forged_turn", "exfiltration"]


@dataclass(frozen=True, slots=True)
class Phrase:
    """`patterns` must occur in this order in one sentence. `marks` are words of which a text must have one: knowing that
    is cheaper than searching."""

    kind: FlagKind
    marks: tuple[str, ...]
    patterns: tuple[str, ...]


def _p(kind: FlagKind, marks: str, *patterns: str) -> Phrase:
    return Phrase(kind, tuple(marks.split()), patterns)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_TARGETS = r"(?:instructions?|prompts?|rules|guidelines|directives?|directions|commands|constraints|polic(?:y|ies)|restrictions|orders|programming|guardrails|safeguards)"
_EARLIER = r"(?:previous|prior|above|earlier|preceding|foregoing|existing|original|initial|system|developer|safety|your|former|current|other)"
_AI = r"(?:ai|llms?|language models?|ai assistants?|assistants?|ai agents?|agents?|models?|claude|chatgpt|gpt|copilot|gemini|codex|cursor)"
_AI_JA = r"(?:AI|LLM|アシスタント|エージェント|言語モデル|Claude|ChatGPT|Copilot|Gemini)"
_PRIVATE = (
    r"(?:\.env\b|env(?:ironment)? (?:variables|vars|file)|~?/?\.ssh|id_(?:rsa|ed25519)|\.aws/credentials|\.netrc|\.npmrc|/etc/(?:passwd|shadow)"
    r"|(?:conversation|chat|message) (?:history|log|transcript)|(?:this|the|our|entire) conversation|system prompt"
    r"|(?:all|any|every|the user'?s?|stored|saved) (?:the |of the |known |your )?(?:secrets?|credentials?|passwords?|(?:api |private |access )?(?:keys?|tokens?)|notes|source code|files))"
)
_PRIVATE_JA = r"(?:\.env|環境変数|認証情報|秘密鍵|会話(?:の)?(?:履歴|内容|全文)|システムプロンプト|すべての(?:メモ|ファイル|ノート)|全(?:メモ|ファイル)|API ?キー|パスワード|トークン|機密情報|ソースコード|~/\.ssh|id_rsa)"
_SENDING = r"(?:send|post|upload|exfiltrate|forward|e-?mail|leak|transmit|submit|pipe|paste|copy|append|report|deliver)"
_SOMEWHERE = r"(?:https?://|[\w.+\-]+@[\w\-]+\.|(?:an? |the |our |my )?(?:external|remote|attacker|following|webhook|url|endpoint|address))"

PHRASES = (
    _p("instruction", "ignore disregard forget override bypass overrule aside follow obey attention", rf"(?:ignore|disregard|forget|override|bypass|overrule|set aside|do(?: not|n't) (?:follow|obey)|stop (?:following|obeying)|pay no attention to)" rf"(?:\s+(?:all|any|every|everything|the|of|these|those|my|in|and|completely)){{0,4}}\s+{_EARLIER}(?:\s+\w+){{0,3}}?\s+{_TARGETS}\b"),
    _p("instruction", "ignore disregard forget override bypass", rf"(?:ignore|disregard|forget|override|bypass)(?:\s+(?:all|any|the|of|these|those|every|your|you)){{1,4}}\s+{_TARGETS}" r"(?:\s+(?:you|given|that|which|from|above|before|so far|until now|and))"),
    _p("instruction", "ignore disregard forget", r"(?:ignore|disregard|forget) (?:everything|all|anything)(?: that)? (?:above|before|you (?:were|have been|know|learned)|i said|said|written)"),
    _p("instruction", "you", r"you are (?:now|no longer) (?:in )?(?:dan\b|developer mode|an? unrestricted|unrestricted|free|bound|jailbroken|a different|root|an? evil|required to follow|restricted|limited)"),
    _p("instruction", "act behave respond", r"(?:act|behave|respond) as (?:dan\b|an? (?:unrestricted|unfiltered|uncensored|jailbroken)|if you (?:had|have) no)"),
    _p("instruction", "pretend", r"pretend (?:that )?(?:you|to) (?:have no|are not|be (?:an? )?(?:unrestricted|unfiltered)|there are no)"),
    _p("instruction", "mode", r"(?:developer|debug|god|admin|dan|jailbreak|maintenance) mode (?:(?:is |has been )?(?:now )?(?:enabled|activated)|is (?:now )?on\b)"),
    _p("instruction", "instruction prompt directive", r"(?:new|updated|real|actual|hidden|secret|additional) (?:system )?(?:instructions?|prompt|directive)s?(?: for you)?\s*(?:[:：]|follow\b|are as follows)"),
    _p("instruction", "your", r"your (?:new|real|actual|true|only) (?:task|instructions?|role|goal|objective|job|purpose|mission) (?:is|are)\b"),
    _p("instruction", "from", r"from now on,? (?:you (?:will|must|are|shal[l]|should)|always|respond|answer|act|ignore)"),
    _p("instruction", "user", r"(?:do not|don't|never|without) (?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|reveal(?:ing)?|ask(?:ing)?|alert(?:ing)?|notify(?:ing)?|warn(?:ing)?|show(?:ing)?)(?: this| it| anything| about this)?(?: to)? the user"),
    _p("instruction", "user", r"the user (?:has )?(?:already )?(?:approved|authori[sz]ed|consented|agreed|given (?:permission|consent))(?: \w+){0,3}[^.\n]{0,40}(?:so|no need|without|you (?:may|can|must)|all)"),
    _p("instruction", "note message instruction attention important reminder directive", rf"(?:note|message|instructions?|attention|important|reminder|directive)s? (?:to|for) (?:the |any |all |every )?{_AI}\b(?:[^.\n]{{0,30}})?[:：,]"),
    _p("instruction", "you", rf"(?:if|when|because|since) you(?:'re| are) an? (?:{_AI}|automated (?:system|agent))\b"),
    _p("instruction", "any every all dear attention", rf"(?:any|every|all|dear|attention,?) {_AI} (?:reading|processing|that reads?|who reads?|which reads?|must|should|,)"),
    _p("instruction", "ai llm model assistant agent claude chatgpt gpt copilot gemini codex cursor", rf"(?:^|[.!\n]\s*){_AI}[,:：]\s*(?:please\s+)?(?:you must|ignore|run|execute|delete|send|call|open|reply|respond|do not|never|always|stop|reveal|output)\b"),
    _p("instruction", "prompt instructions message", r"(?:reveal|print|output|repeat|display|show|disclose|leak|dump)(?: me)?(?: all| the| of| your| full| entire| verbatim){1,4} (?:system prompt|initial prompt|hidden prompt|system message|instructions (?:above|you were given))"),
    _p("instruction", "before after instead", r"(?:before|after|instead of) (?:doing|answering|responding|replying|you (?:do|answer|respond|reply)|using any|calling any)[^.\n]{0,60}(?:you must|always|first) (?:call|run|execute|read|send|use|open)"),
    _p("instruction", "decode", r"decode (?:this|the|following)[^.\n]{0,60}(?:and|then) (?:follow|execute|run|obey|do)"),
    _p("instruction", "must", r"you must (?:now |always |immediately |silently |secretly )?(?:obey|comply|follow (?:these|my|the following) (?:new )?instructions)"),
    _p("instruction", "指示 命令 プロンプト 指令 インストラクション 約束事 制約", r"(?:以前|これまで|いままで|今まで|上記|上|前|先ほど|先|従来|元|最初|過去|ここまで|既存|それまで)の?(?:すべて|全て|全部|あらゆる)?の?(?:システム)?(?:指示|命令|プロンプト|指令|インストラクション|約束事|制約)(?:を|は|に|事項を)?(?:、)?(?:すべて|全て|全部|一切|完全に|まとめて)?(?:を)?(?:無視|忘れ|破棄|従わ|取り消|上書き|無効|キャンセル|リセット|聞かな)"),
    _p("instruction", "指示 命令 プロンプト ルール 規則 ガイドライン 制限", r"(?:すべて|全て|あらゆる|与えられた|あなたの|システム)の?(?:指示|命令|プロンプト|安全(?:上の)?ルール|安全規則|ガイドライン|制限)(?:を|は|に)(?:すべて|全て|完全に|一切)?(?:無視|忘れ|破棄|従わ|上書き|無効|解除)"),
    _p("instruction", "無視 破棄", r"(?:無視|破棄)して(?:、)?(?:次|以下|代わりに|かわりに|今後は|これから).{0,20}(?:実行|従|出力|返|答|送)"),
    _p("instruction", "今から これから いまから もう もはや", r"(?:あなたは|君は|お前は|貴方は)(?:今から|これから|いまから|もう|もはや)"),
    _p("instruction", "ユーザー 利用者 使用者 人間", r"(?:ユーザー|利用者|使用者|人間)に(?:は)?(?:絶対に|決して|一切)?(?:知らせ|伝え|言わ|報告せ|教え|見せ|気付かれ|気づかれ|悟られ|確認せ|確認を(?:求め|取ら)|許可を(?:求め|取ら)|断ら)(?:ず|ない|るな|ることなく|ないよう)"),
    _p("instruction", "を読 を処理 を参照", rf"(?:この|本)(?:メモ|ノート|文書|文章|ページ|ファイル)を(?:読んだ|読む|読んでいる|処理する|参照した)\s?{_AI_JA}"),
    _p("instruction", "指示 命令 お願い メッセージ 注意 伝言", rf"{_AI_JA}\s?(?:へ|宛て|あて|向け)の?(?:指示|命令|お願い|メッセージ|注意|伝言)"),
    _p("instruction", "プロンプト", r"システム ?プロンプト(?:の(?:内容|全文|中身))?を(?:すべて|全て|全文|そのまま)?(?:表示|出力|教え|開示|見せ|書き出)"),
    _p("instruction", "指示 命令 指令 プロンプト", r"(?:新しい|新たな|真の|本当の|隠し|追加の)(?:システム)?(?:指示|命令|指令|プロンプト)(?:です|だ)?[:：]"),
    _p("instruction", "モード", r"(?:開発者|デバッグ|管理者|脱獄|DAN)モード(?:が|を|に)(?:有効|オン|起動|切り替え|入)"),
    _p("instruction", "制限 制約 検閲", r"(?:制限|制約|検閲)(?:の)?(?:ない|なし|を受けない)(?:の)?(?:AI|アシスタント|モデル)"),
    _p("forged_turn", "<| of_turn inst] sys>>", r"<\|?(?:im_start|im_end|system|assistant|user|endoftext|eot_id|start_header_id|end_header_id|start_of_turn|end_of_turn|begin_of_text)\|>|<(?:start|end)_of_turn>|\[/?INST\]|<</?SYS>>"),
    _p("forged_turn", "system assistant_ human_ user_ antml", r"</?(?:system[-_](?:prompt|message|reminder|instructions?|note)|system_reminder|assistant_(?:response|message)|human_turn|user_message|antml:\w+)>"),
    _p("forged_turn", "chie recalled knowledge note retrieved team memory context untrusted", r"</?(?:chie[-_:\w]*|recalled[-_ ]?\w*|knowledge[-_]\w+|note[-_](?:content|data|text)|retrieved[-_]\w+|team[-_]notes?|memory|context|untrusted\w*)>"),
    _p("forged_turn", "system developer assistant", r"(?:^|\n)\s*(?:#{1,4}\s*|\*\*|\[)?(?:system|developer|assistant)(?: (?:prompt|message|override|note|instruction))?\]?(?:\*\*)?\s*[:：]\s*(?:you (?:are|must|will|should)|ignore|the (?:user|assistant)|new |from now|do not|always|never|override|sure,? i|i will|i have|okay,? i|あなたは|今後|以後|以下の指示)"),
    _p("forged_turn", "assistant", r"\n\s*(?:human|user)\s*:[^\n]{0,400}\n+\s*assistant\s*:[^\n]{0,20}(?:sure|i will|i'll|okay|of course|understood|done)"),
    _p("forged_turn", "of", r"(?:^|\n)\s*(?:[-=#*]{3,}\s*)?(?:end|begin|start) of (?:the )?(?:note|notes|context|data|document|system prompt|user input|untrusted \w+|retrieved \w+|knowledge)s?\b[^\n]{0,20}(?:[-=#*]{3,}|$)"),
    _p("forged_turn", "システム アシスタント", r"(?:^|\n)\s*(?:システム|アシスタント)\s*[:：]\s*(?:あなたは|今後|以後|以下の指示|承知|了解|ユーザーの)"),
    _p("forged_turn", "ここまで", r"(?:メモ|ノート|データ|文書|コンテキスト)(?:は)?ここまで。?\s*(?:以下|ここから|次)(?:は|の|が)(?:システム|新しい|本当の)?(?:指示|命令|プロンプト)"),
    _p("tool_call", "< tool_call", r"<(?:tool_call|function_calls?|tool_use|tool_result|tool_calls|function_results?|use_mcp_tool|execute_command|write_to_file)>|<invoke\s+name\s*=|<parameter\s+name\s*=\s*\"(?:command|cmd|path)|<function=\w+>|\[TOOL_CALLS?\]|<\|(?:tool_call|python_tag|tool)[^|>]{0,20}\|>"),
    _p("tool_call", "tool function_call mcp_call", r"\{\s*\"(?:type|kind)\"\s*:\s*\"(?:tool_use|tool_call|function_call|mcp_call|tool_result)\""),
    _p("tool_call", "tool_calls function_call", r"\"(?:tool_calls|function_call)\"\s*:\s*[\[{]\s*[{\"]"),
    _p("tool_call", "jsonrpc", r"\{\s*\"jsonrpc\"\s*:\s*\"2\.0\"[^{}]{0,80}\"method\"\s*:\s*\"tools/call\""),
    _p("tool_call", "action", r"(?:^|\n)\s*action\s*:\s*\w{2,40}\s*\n\s*action input\s*:"),
    _p("tool_call", "tool function mcp", r"(?:you must|please|now|always|immediately|then|first,?) (?:call|invoke|use|run|execute) (?:the )?[`\"']?\w{2,40}[`\"']? (?:tool|function|mcp)(?: with| to| on| and)"),
    _p("exfiltration", "send post upload exfil forward mail leak transmit submit pipe paste copy append report deliver", rf"\b{_SENDING}(?:ing)?\b", _PRIVATE, rf"\b(?:to|into|in|onto|via|at)\b[^\n]{{0,30}}?{_SOMEWHERE}"),
    _p("exfiltration", "read cat open collect gather take encode base64", r"\b(?:read|cat|open|collect|gather|take|encode|base64)\b", _PRIVATE, rf"\b(?:and|then)\b[^\n]{{0,20}}?\b{_SENDING}\b"),
    _p("exfiltration", "include put add append encode insert embed", r"\b(?:include|put|add|append|encode|insert|embed)\b", _PRIVATE, r"\b(?:in|to|into|as)\b[^.\n]{0,30}?(?:url|link|image|query|request|parameter|commit|issue|comment)"),
    _p("exfiltration", "curl", r"\bcurl\b", r"@[^\s'\")]{0,40}(?:\.env|id_rsa|id_ed25519|credentials|\.ssh|\.aws|/etc/passwd)|\$\(\s*(?:cat|env|printenv|base64)\b[^)\n]{0,60}(?:\.env|id_rsa|id_ed25519|credentials|\.ssh|\.aws|/etc/passwd|\))"),
    _p("exfiltration", "curl wget nc", r"(?:\benv\b|printenv|cat [^\n|]{0,60}(?:\.env|id_rsa|id_ed25519|\.aws|\.ssh)[^\n|]{0,20})\s{0,4}\|", r"\b(?:curl|wget|nc|ncat)\b"),
    _p("exfiltration", "](http", r"!\[[^\]\n]{0,80}\]\(https?://", r"[?&=/][\w\-]{0,20}=?(?:\{|<|%7B|\[|\$)[^)\n]{0,40}?(?:secret|history|conversation|context|data|prompt|key|token|env|会話|内容)"),
    _p("exfiltration", ".env 環境変数 認証情報 秘密鍵 会話 プロンプト すべての 全メモ 全ファイル キー パスワード トークン 機密 コード .ssh id_rsa", _PRIVATE_JA, r"(?:を|も)", r"https?://|[\w.+\-]{1,64}@[\w\-]{1,64}\.|外部", r"(?:に|へ|宛て)[^。\n]{0,20}?(?:送|POST|ポスト|投稿|アップロード|転送|書き込|渡)"),
    _p("exfiltration", ".env 環境変数 認証情報 秘密鍵 会話 プロンプト すべての 全メモ 全ファイル キー パスワード トークン 機密 コード .ssh id_rsa", r"https?://|[\w.+\-]{1,64}@[\w\-]{1,64}\.|外部(?:の)?(?:サーバー|URL)", r"(?:に|へ|宛て)", _PRIVATE_JA, r"を[^。\n]{0,15}?(?:送|POST|投稿|アップロード|転送)"),
)  # fmt: skip
