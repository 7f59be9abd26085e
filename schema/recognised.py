"""What a visit met beside the page: stable names, written into every release, so a rename breaks past data."""

from __future__ import annotations

WALLS: dict[str, str] = {
    "cloudflare": "a challenge page of Cloudflare",
    "aws-waf": "a challenge or CAPTCHA of AWS WAF",
    "vercel": "a challenge of Vercel's firewall",
    "datadome": "a challenge or block of DataDome",
    "perimeterx": "a challenge of HUMAN (PerimeterX)",
    "imperva": "a challenge of Imperva (Incapsula)",
    "akamai": "a refusal by Akamai's edge server itself",
    "hcaptcha": "a refusal with hCaptcha on it",
    "recaptcha": "a refusal with reCAPTCHA on it",
}
"""Values of visit.wall: bot walls that answer in place of the page."""

CONSENTS: dict[str, str] = {
    "onetrust": "OneTrust",
    "cookiebot": "Cookiebot",
    "sourcepoint": "Sourcepoint",
    "quantcast": "Quantcast Choice, now InMobi Choice",
    "didomi": "Didomi",
    "usercentrics": "Usercentrics",
    "trustarc": "TrustArc",
}
"""Values of visit.consent: consent platforms that the page loaded, whether or not they showed a banner."""
