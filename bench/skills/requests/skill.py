"""Makes requests and says how long each took, in milliseconds; or makes as many as it can for a while."""

import http.client
import threading
import time
import urllib.parse
import urllib.request


def one_by_one(url, count):
    took = []
    for _ in range(count):
        began = time.perf_counter()
        with urllib.request.urlopen(url, timeout=20) as answer:
            body = answer.read()
        took.append((time.perf_counter() - began) * 1000)
        assert body == b"fine"
    return {"took": took}


def work(url, until, totals):
    """Over one connection to the proxy, as libraries with a pool do it."""
    served = failed = 0
    proxy = urllib.parse.urlsplit(urllib.request.getproxies()["http"])
    connection = http.client.HTTPConnection(proxy.hostname, proxy.port, timeout=20)
    while time.perf_counter() < until:
        try:
            connection.request("GET", url)
            ok = connection.getresponse().read() == b"fine"
        except OSError:
            connection.close()
            ok = False
        served, failed = served + ok, failed + (not ok)
    totals.append((served, failed))


def at_once(url, workers, seconds):
    totals = []
    began = time.perf_counter()
    threads = [threading.Thread(target=work, args=(url, began + seconds, totals)) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - began
    return {"served": sum(served for served, _ in totals), "failed": sum(failed for _, failed in totals), "seconds": took}


def execute(params):
    if "count" in params:
        return one_by_one(params["url"], params["count"])
    return at_once(params["url"], params["workers"], params["seconds"])
