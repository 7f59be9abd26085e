"""The project's terms with their definitions; docs/glossary.md and the reports print them."""

GLOSSARY: dict[str, str] = {
    "site": "an entry of a site list: a host name with its rank",
    "page": "the home page of a site with everything that it loads; an inner page where the text says so",
    "visit": "one load of a page by the crawler, whatever its outcome",
    "response": "one HTTP response as the browser received it; a redirect is a response of its own",
    "complete": "of a response: all of it arrived, by its own framing and Content-Length "
    "(`is_complete`); what broke off, ended too early, or was still arriving when recording stopped, "
    "is incomplete",
    "connection": "one transport connection on which at least one byte was received",
    "crawl": "the visits of one month for one site list, device, vantage, protocol arm and kind",
    "release": "the immutable Parquet files of one sealed crawl, with manifest and checksums",
    "checksum": "SHA-256 of the file SHA256SUMS of a release, a replay or a report, "
    "which holds the SHA-256 of each file",
    "damaged": "at odds with its checksums, or with an invalid signature; "
    "damaged data are listed and not used",
    "withdrawn": "taken back, because a site in this version of a release asked to be erased",
    "tombstone": "the file that takes the place of a withdrawn version; "
    "it says that a site was withdrawn, and no more",
    "box": "the Linux namespaces that a browser runs in, "
    "which hide the crawler's files and processes from it",
    "address guard": "the network namespace of a live crawl's browsers, "
    "from which only the public internet can be reached",
    "segment": "a TCP segment; a full segment carries MSS bytes of payload",
    "MSS": "payload of a full segment: 1430 bytes in Fig. 1 of the 2010 paper, "
    "1448 on Ethernet with timestamps",
    "initial window (IW)": "the congestion window of a new connection, in segments (RFC 6928)",
    "flight": "the segments that a sender sends before the first of them is acknowledged",
    "first flight": "the server's TCP payload for everything that was requested on a connection before "
    "the first acknowledgement of response data could return",
    "IW-limited": "of a response: when it began, the congestion window, by Linux's rule, "
    "still had its initial size",
    "wire bytes": "header section, framing and encoded body of one response, inside TLS",
    "body bytes": "the encoded body of one response",
    "header bytes": "wire bytes less body bytes",
    "decoded bytes": "the body of one response after decompression",
    "coverage": "the share of the received bytes that the measurement accounts for",
    "threshold": "a window in segments that sizes are compared with: 3, 10, N",
    "profile": "one access network: rates, round-trip time, queue",
    "population": "profiles with weights",
    "recipe": "the structure of a page without its content: origins, connections, sizes, "
    "and which response requests which",
    "cell": "one replayed load: a page over a profile at an IW, under given conditions and with a seed",
    "conditions": "the other settings of a replay: congestion control, pacing, loss, competition, server "
    "delay, cache, TLS records and handshakes, discovery, requests held back, order of answers",
    "discovery": "the moment at which a browser finds that it needs a resource: at a place in the bytes "
    "of the response that leads to it",
    "server delay": "the time that a server takes to begin its response, beyond the round trip; "
    "also called think time",
    "round trip": "the time from sending a packet until its acknowledgement arrives",
    "browser delay": "the time that the browser takes from a response until it begins a "
    "request that the response led to",
    "page time": "time from the first SYN to the last byte of the page's payload",
    "draw": "a page over a network with a seed, loaded at the incumbent and at candidates",
    "gain": "per cent of page time that a candidate saves against the incumbent: one less the geometric "
    "mean of the draws' ratios, over the population",
    "incumbent": "the window in force, which candidates are compared with: ten segments, unless a replay "
    "names another one",
    "candidate": "a window, paced or at once, that the rule may recommend",
    "price": "payload sent again, in percentage points, that 1 % of page time may cost; 0.077 was paid in "
    "2010",
    "net benefit": "price times gain, less the payload sent again in addition, in percentage points",
    "verdict": "what the rule finds of a candidate: worth it, not worth it, at the price, or open",
    "guard": "a limit on harm that a window that is worth it has to keep",
    "look": "an evaluation of all loads so far, at a set part of the budget; each spends as much of the "
    "error",
    "arm": "loads under another input or condition, which decide nothing",
    "ledger": "the table of who would decide otherwise: the answer by other prices, other quantities and "
    "other inputs",
    "back-cast": "the same replay and rule asked about the experiment of 2010, whose figures are published",
    "canary": "a well-known endpoint that is probed to tell whether the crawl's own network is up",
    "given back": "of a visit: not counted as an attempt, "
    "since the crawl's own network was down (`network_down`)",
    "gate": "the check of a crawl's quality before it is sealed",
    "calibration check": "a check of an emulated network by a replay without loss; where it fails, the "
    "network's cells are refused",
    "report": "the year's distributions, replay, recommendation and provenance",
    "edition": "the releases and reports of a library at one moment, with sums, "
    "signatures and damage; the API answers from it",
    "illustrative": "not evidence about the live web: from the bundled local web, "
    "or from populations more than 24 months old",
}
