"""The formats of keys and tokens that their issuers mark with a prefix."""
# ruff: noqa: E501 - one format per line

import re
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class TokenFormat:
    """A text without any of the `marks` has no such token, which is cheaper to know than to search by `pattern`."""

    service: str
    marks: tuple[str, ...]
    pattern: str


B62 = "[A-Za-z0-9]"
URL = r"[A-Za-z0-9_\-]"
START = r"(?<![A-Za-z0-9_\-/+.])"  # before prefixes that also occur inside other words
UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"


def _f(service: str, marks: str, pattern: str) -> TokenFormat:
    return TokenFormat(service, tuple(marks.split()), pattern)


FORMATS = (
    # Clouds
    _f("AWS", "AKIA ASIA ABIA ACCA", r"(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _f("AWS", "IQoJb3JpZ2lu FwoGZXIvYXdz", r"(?:IQoJb3JpZ2lu|FwoGZXIvYXdz)[A-Za-z0-9+/=]{60,2000}"),
    _f("AWS", "ABSK bedrock-api-key-", START + r"(?:ABSK[A-Za-z0-9+/]{80,200}|bedrock-api-key-[A-Za-z0-9+/=]{60,2000})"),
    _f("Google", "AIza", rf"AIza{URL}{{35}}(?!{URL})"),
    _f("Google", "GOCSPX-", rf"GOCSPX-{URL}{{24,40}}"),
    _f("Google", "ya29.", rf"ya29\.{URL}{{20,2000}}"),
    _f("Google", "1//0", rf"{START}1//0{URL}{{40,200}}"),
    _f("Google", "AQ.Ab8", rf"{START}AQ\.Ab8{URL}{{30,200}}"),
    _f("Azure", "Q~", r"(?<![A-Za-z0-9_~.\-])[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.\-]{31,34}(?![A-Za-z0-9_~.\-])"),
    _f("Azure", "AZDO", rf"{START}{B62}{{70,80}}AZDO{B62}{{4}}"),
    _f("Azure", "JQQJ99 AzFu AzSe AzCa ACDb +ASt +AMl +ACR", rf"{START}(?:{B62}{{40,52}}JQQJ99{B62}{{20,34}}|[A-Za-z0-9+/_\-]{{36,80}}(?:AzFu|AzSe|AzCa|ACDb|\+ASt|\+AMl|\+ACR)[A-Za-z0-9+/_\-]{{4,8}}={{0,2}})"),
    _f("Alibaba Cloud", "LTAI", rf"{START}LTAI{B62}{{12,26}}(?!{B62})"),
    _f("Tencent Cloud", "AKID", rf"{START}AKID{B62}{{32,36}}(?!{B62})"),
    _f("DigitalOcean", "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[0-9a-f]{60,70}"),
    _f("Heroku", "HRKU-", rf"HRKU-{URL}{{30,100}}"),
    _f("Fly.io", "fm1_ fm2_ fo1_", rf"{START}(?:fm[12][ar]?_[A-Za-z0-9+/=]{{60,2000}}|fo1_{URL}{{40,60}})"),
    _f("Netlify", "nfp_ nfc_ nfo_ nfu_", rf"{START}nf[pcou]_{B62}{{30,50}}"),
    _f("Vercel", "vcp_ vci_ vca_ vcr_ vck_ vercel_blob_rw_", rf"{START}(?:vc[piark]_{URL}{{24,80}}|vercel_blob_rw_{URL}{{20,80}})"),
    _f("Supabase", "sbp_ sb_secret_", rf"{START}(?:sbp_(?:v0_)?[0-9a-f]{{40}}|sb_secret_{URL}{{20,60}})"),
    _f("PlanetScale", "pscale_", r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_=.\-]{30,70}"),
    _f("Neon", "napi_", rf"{START}napi_{B62}{{40,80}}"),
    _f("Render", "rnd_", rf"{START}rnd_{B62}{{28,40}}"),
    _f("Cloudflare", "v1.0- cfut_ cfat_ cfk_", rf"{START}(?:v1\.0-[0-9a-f]{{24}}-[0-9a-f]{{100,160}}|cf(?:ut|at|k)_{URL}{{36,80}})"),
    _f("Scaleway", "SCW", rf"{START}SCWSECRET{B62}{{20,40}}"),
    _f("Yandex Cloud", "AQVN t1. YC", rf"{START}(?:AQVN{URL}{{35,38}}|t1\.[A-Z0-9a-z_\-]+={{0,2}}\.{URL}{{86}}={{0,2}})"),
    # Code hosting and CI
    _f("GitHub", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{30,251}"),
    _f("GitHub", "github_pat_", r"github_pat_[A-Za-z0-9_]{50,255}"),
    _f("GitLab", "glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glsoat- glimt- glagent- gloas- glffct- glwt-", r"gl(?:pat|dt|rt|rtr|cbt|ptt|ft|soat|imt|agent|oas|ffct|wt)-[A-Za-z0-9_.\-]{20,300}"),
    _f("GitLab", "GR1348941", rf"GR1348941{URL}{{20}}"),
    _f("Bitbucket", "ATBB ATCTT3", rf"{START}(?:ATBB{B62}{{28,40}}|ATCTT3[A-Za-z0-9_\-=]{{60,250}})"),
    _f("Atlassian", "ATATT3", r"ATATT3[A-Za-z0-9_\-=]{60,250}"),
    _f("CircleCI", "CCIPAT_ CCIPRJ_", rf"CCIP(?:AT|RJ)_{B62}{{20,24}}_[0-9a-f]{{40}}"),
    _f("Buildkite", "bkua_ bkct_", r"bk(?:ua|ct)_[0-9a-zA-Z_]{40,64}"),
    _f("Sourcegraph", "sgp_", r"sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}"),
    _f("SonarQube", "sqp_ squ_ sqa_", rf"{START}sq[pau]_[0-9a-f]{{40}}"),
    _f("JFrog", "AKCp cmVmd", rf"{START}(?:AKCp{B62}{{65,75}}|cmVmd{B62}{{59}})(?!{B62})"),
    # Package registries
    _f("npm", "npm_", rf"{START}npm_{B62}{{36}}(?!{B62})"),
    _f("PyPI", "pypi-Ag", rf"pypi-Ag{URL}{{50,1000}}"),
    _f("RubyGems", "rubygems_", r"rubygems_[0-9a-f]{48}"),
    _f("crates.io", "cio", rf"{START}cio{B62}{{32}}(?!{B62})"),
    _f("NuGet", "oy2", rf"{START}oy2[a-z0-9]{{43}}(?!{B62})"),
    _f("Docker", "dckr_pat_ dckr_oat_", rf"dckr_[po]at_{URL}{{20,60}}"),
    _f("Clojars", "CLOJARS_", r"CLOJARS_[0-9a-f]{60}"),
    # Models
    _f("Anthropic", "sk-ant-", rf"sk-ant-{URL}{{24,200}}"),
    _f("OpenRouter", "sk-or-", r"sk-or-v1-[0-9a-f]{40,64}"),
    _f("Langfuse", "sk-lf-", rf"sk-lf-{UUID}"),
    _f("OpenAI", "sk-", rf"{START}sk-(?:(?:proj|svcacct|admin|None|service)-)?{URL}{{20,250}}"),
    _f("Hugging Face", "hf_ api_org_", rf"{START}(?:hf|api_org)_{B62}{{30,40}}(?!{B62})"),
    _f("Groq", "gsk_", rf"{START}gsk_{B62}{{48,60}}"),
    _f("xAI", "xai-", rf"{START}xai-{B62}{{60,100}}"),
    _f("Perplexity", "pplx-", rf"{START}pplx-{B62}{{32,64}}"),
    _f("Replicate", "r8_", rf"{START}r8_{B62}{{35,42}}"),
    _f("Pinecone", "pcsk_", r"pcsk_[A-Za-z0-9_]{40,100}"),
    _f("NVIDIA", "nvapi-", rf"nvapi-{URL}{{50,100}}"),
    _f("LangSmith", "lsv2_", r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    _f("Tavily", "tvly-", rf"tvly-(?:dev-|prod-)?{B62}{{24,48}}"),
    _f("Firecrawl", "fc-", rf"{START}fc-[0-9a-f]{{32}}(?!{B62})"),
    _f("Jina", "jina_", rf"{START}jina_{URL}{{40,80}}"),
    _f("Voyage AI", "pa-", rf"{START}pa-{URL}{{43}}(?!{URL})"),
    _f("Fireworks", "fw_", rf"{START}fw_{B62}{{22,40}}(?!{B62})"),
    _f("Cerebras", "csk-", rf"{START}csk-{B62}{{40,60}}"),
    _f("ElevenLabs", "sk_", rf"{START}sk_[0-9a-f]{{48}}(?!{B62})"),
    _f("Databricks", "dapi dkea dose dsapi", rf"{START}(?:dapi|dkea|dose|dsapi)[0-9a-f]{{32}}(?:-\d)?(?!{B62})"),
    _f("Weights & Biases", "wandb_v1_", rf"wandb_v1_{URL}{{40,120}}"),
    # Messaging and mail
    _f("Slack", "xoxb- xoxp- xoxa- xoxo- xoxs- xoxr- xoxe- xoxe. xoxc- xoxd- xapp- xwfp-", r"(?:xox[a-z][.\-]|xapp-|xwfp-)[A-Za-z0-9%./+=\-]{20,400}"),
    _f("Slack", "hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Z0-9]{6,14}/[A-Z0-9]{6,24}/(?:[0-9]+/)?[A-Za-z0-9]{16,48}"),
    _f("Discord", ".", r"(?<![A-Za-z0-9_\-])[MNO][A-Za-z0-9_\-]{22,28}\.[A-Za-z0-9_\-]{6}\.[A-Za-z0-9_\-]{27,40}(?![A-Za-z0-9_\-.])"),
    _f("Discord", "/webhooks/", r"discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d{15,22}/[A-Za-z0-9_\-]{50,90}"),
    _f("Telegram", ":AA", r"(?<!\d)\d{8,10}:AA[A-Za-z0-9_\-]{33}(?![A-Za-z0-9_\-])"),
    _f("Telegram", "bot", r"(?<=bot)\d{8,10}:[A-Za-z0-9_\-]{35}(?![A-Za-z0-9_\-])"),
    _f("Microsoft Teams", "webhook.office.com/", rf"webhook\.office\.com/webhookb2/{UUID}@{UUID}/IncomingWebhook/[0-9a-f]{{32}}/{UUID}"),
    _f("SendGrid", "SG.", rf"{START}SG\.{URL}{{16,32}}\.{URL}{{30,64}}"),
    _f("Twilio", "SK", rf"{START}SK[0-9a-f]{{32}}(?!{B62})"),
    _f("Mailgun", "key-", rf"{START}key-[0-9a-f]{{32}}(?!{B62})"),
    _f("Mailgun", "-", rf"{START}[0-9a-f]{{32}}-[0-9a-f]{{8}}-[0-9a-f]{{8}}(?![0-9A-Za-z\-])"),
    _f("Mailchimp", "-us", rf"{START}[0-9a-f]{{32}}-us\d{{1,2}}(?!{B62})"),
    _f("Brevo", "xkeysib- xsmtpsib-", rf"x(?:key|smtp)sib-[0-9a-f]{{60,68}}-{B62}{{12,20}}"),
    _f("Resend", "re_", rf"{START}re_{B62}{{8}}_{B62}{{20,28}}(?!{B62})"),
    # Payment and commerce
    _f("Stripe", "sk_live_ sk_test_ rk_live_ rk_test_ sk_org_", r"[sr]k_(?:live|test|org_live|org_test|prod)_[A-Za-z0-9]{16,247}"),
    _f("Stripe", "whsec_", r"whsec_[A-Za-z0-9+/=]{24,80}"),
    _f("Square", "sq0atp- sq0csp- EAAA", rf"{START}(?:sq0(?:atp|csp)-{URL}{{22,60}}|EAAA{URL}{{58,62}})"),
    _f("Shopify", "shpat_ shpca_ shppa_ shpss_ shptka_", r"shp(?:at|ca|pa|ss|tka)_[0-9a-fA-F]{32}"),
    _f("PayPal", "access_token$", r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}"),
    _f("Plaid", "access-", rf"access-(?:sandbox|development|production)-{UUID}"),
    _f("Flutterwave", "FLWSECK_TEST- FLWSECK-", r"FLWSECK(?:_TEST)?-[0-9a-zA-Z]{12,40}"),
    _f("Coinbase", "cbp_", rf"{START}cbp_{B62}{{30,80}}"),
    _f("Amazon MWS", "amzn.mws.", rf"amzn\.mws\.{UUID}"),
    _f("EasyPost", "EZAK EZTK", rf"{START}EZ[AT]K{B62}{{54}}"),
    # Observability
    _f("Grafana", "glc_ glsa_ eyJrIjoi", rf"{START}(?:glc_[A-Za-z0-9+/=]{{32,400}}|glsa_{B62}{{32}}_[0-9a-fA-F]{{8}}|eyJrIjoi[A-Za-z0-9+/=]{{60,400}})"),
    _f("New Relic", "NRAK- NRII- NRRA- NRBR- NRAL NRIQ-", rf"{START}(?:NR(?:AK|II|RA|BR|IQ)-[A-Za-z0-9_\-]{{24,40}}|[0-9a-f]{{36}}NRAL|eu01xx[0-9a-f]{{30}}NRAL)"),
    _f("Sentry", "sntrys_ sntryu_", r"sntry(?:u_[0-9a-f]{64}|s_[A-Za-z0-9+/=_]{40,400})"),
    _f("Dynatrace", "dt0", r"dt0[a-z]\d{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    _f("Honeycomb", "hcaik_ hcamk_ hcxik_", r"hc[abxz][a-z]k_[A-Za-z0-9]{40,80}"),
    _f("Datadog", "ddpat_ ddapi_ ddapp_", rf"dd(?:pat|api|app)_{URL}{{24,80}}"),
    _f("PagerDuty", "pdus+", r"pdus\+_?[A-Za-z0-9_+\-]{20,60}"),
    _f("Better Stack", "phx_ phs_", rf"{START}ph[xs]_{B62}{{32,64}}"),
    # Secrets and infrastructure
    _f("HashiCorp Vault", "hvs. hvb. hvr.", rf"{START}hv[sbr]\.{URL}{{20,300}}"),
    _f("Terraform Cloud", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=\-]{50,80}"),
    _f("Pulumi", "pul-", rf"{START}pul-[0-9a-f]{{40}}(?!{B62})"),
    _f("Doppler", "dp.", rf"{START}dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_\-]{{2,35}}\.)?{B62}{{40,44}}"),
    _f("1Password", "ops_eyJ A3-", rf"(?:ops_eyJ[A-Za-z0-9+/=_\-]{{100,2000}}|{START}A3-[A-Z0-9]{{6}}-[A-Z0-9]{{6}}-?[A-Z0-9]{{5}}-[A-Z0-9]{{5}}-[A-Z0-9]{{5}}-[A-Z0-9]{{5}})"),
    _f("Infisical", "st.", rf"{START}st\.[0-9a-f]{{24}}\.[0-9a-f]{{32}}\.[0-9a-f]{{32}}"),
    _f("age", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{50,80}"),
    _f("Tailscale", "tskey-", rf"tskey-(?:auth-|api-|client-|scim-|webhook-)?{B62}{{6,24}}(?:CNTRL)?-{B62}{{16,40}}"),
    _f("ngrok", "2", rf"{START}2{B62}{{26}}_{B62}{{20,22}}(?!{B62})"),
    _f("Cloudinary", "cloudinary://", r"(?<=cloudinary://)\d{15}:[A-Za-z0-9_\-]{27}"),
    # Work tools
    _f("Linear", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}"),
    _f("Notion", "secret_ ntn_", rf"{START}(?:secret_{B62}{{43}}|ntn_\d{{8,12}}{B62}{{32,38}})(?!{B62})"),
    _f("Figma", "figd_ figo_ figu_", rf"fig[dou][rh]?_{URL}{{30,60}}"),
    _f("Airtable", "pat", rf"{START}pat{B62}{{14}}\.[0-9a-f]{{64}}"),
    _f("Asana", "/", r"(?<![\d/])[12]/\d{13,17}(?:/\d{13,17})?:[0-9a-f]{32}"),
    _f("Postman", "PMAK-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    _f("HubSpot", "pat-na pat-eu pat-ap", rf"pat-(?:na|eu|ap)\d-{UUID}"),
    _f("Typeform", "tfp_", rf"{START}tfp_{URL}{{40,70}}"),
    _f("Contentful", "CFPAT-", rf"CFPAT-{URL}{{40,60}}"),
    _f("LaunchDarkly", "sdk- api-", rf"{START}(?:sdk|api)-{UUID}"),
    _f("Prefect", "pnu_ pnb_", rf"{START}pn[ub]_{B62}{{36}}(?!{B62})"),
    _f("ReadMe", "rdme_", r"rdme_[a-z0-9]{60,80}"),
    _f("Mapbox", "sk.eyJ", rf"{START}sk\.eyJ{URL}{{40,200}}\.{URL}{{16,40}}"),
    _f("Facebook", "EAA", rf"{START}EAA[A-Z]{B62}{{80,300}}"),
    _f("Twitter", "AAAAAAAAAAAAAAAAAAAA", r"(?<![A-Za-z0-9+/])A{20,22}[A-Za-z0-9%]{50,120}(?![A-Za-z0-9+/=])"),
    _f("Dropbox", "sl.", rf"{START}sl\.(?:u\.)?{URL}{{100,1500}}"),
    _f("Adobe", "p8e-", rf"{START}p8e-{URL}{{32}}"),
    _f("Apify", "apify_api_", r"apify_api_[A-Za-z0-9]{36,46}"),
    _f("n8n", "n8n_api_", r"n8n_api_[A-Za-z0-9]{30,200}"),
    _f("Frame.io", "fio-u-", rf"fio-u-{URL}{{60,70}}"),
    _f("Duffel", "duffel_live_ duffel_test_", rf"duffel_(?:live|test)_{URL}{{40,50}}"),
    _f("Shippo", "shippo_live_ shippo_test_", r"shippo_(?:live|test)_[0-9a-f]{40}"),
    _f("Okta", "SSWS", rf"(?<=SSWS )00{URL}{{40}}"),
)  # fmt: skip


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Compiled on first use, because most texts need none of them."""
    return re.compile(pattern)
