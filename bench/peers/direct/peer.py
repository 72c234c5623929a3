"""No proxy: what the replica and the load program need by themselves."""

TITLE = "no proxy"
DOES = "nothing; the base of added latency"


def missing(options):
    return None


def version(options):
    return ""
