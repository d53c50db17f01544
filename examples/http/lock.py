"""A lock of `rowlock serve`: with Hold("billing/nightly") as hold: work(hold.granted["token"]); hold.renew()"""
import json, os, sys, urllib.parse, urllib.request, uuid


class Hold:  # urllib.error.HTTPError: 423 is busy, 410 is lost
    def __init__(self, name, ttl_ms=30_000, wait_ms=60_000):
        self.url = f"{os.environ['ROWLOCK_SERVE']}/v1/locks/{urllib.parse.quote(name, safe='')}/holds/{uuid.uuid4()}"
        self.wish = {"ttl_ms": ttl_ms, "wait_ms": wait_ms}

    def ask(self, method, verb="", body=None):
        headers = {"Authorization": "Bearer " + os.environ["ROWLOCK_BEARER"], "Content-Type": "application/json"}
        request = urllib.request.Request(self.url + verb, json.dumps(body or {}).encode(), headers, method=method)
        with urllib.request.urlopen(request, timeout=self.wish["wait_ms"] / 1000 + 30) as answer:
            return json.load(answer)

    def renew(self):  # at least every third of the ttl
        self.granted = self.ask("POST", "/renew")

    def __enter__(self):
        self.granted = self.ask("PUT", body=self.wish)
        return self

    def __exit__(self, *_):
        self.ask("DELETE")


if __name__ == "__main__":
    with Hold(sys.argv[1]) as hold:
        print("token", hold.granted["token"])
        hold.renew()
