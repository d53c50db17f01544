#!/usr/bin/env python3
"""Drives the dashboard of `rowlock serve` in a headless Chromium, as a person would.

  tests/serve/browser/dashboard.py ROWLOCK [PICTURES [WORD...]]

ROWLOCK is the command. With a folder for PICTURES it also makes a picture of each state there; with
WORDs, only the checks whose names contain one of them run, and the first ones, which sign in. It uses an SQLite file of
its own, and Python's standard library alone: Chromium takes its commands on a pipe. Each check prints a line; the last
line is "N passed, N failed". Exit code 69: Chromium is not installed.
"""
import base64
import json
import os
import re
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

PATIENCE = float(os.environ.get("ROWLOCK_BROWSER_PATIENCE", "60"))  # seconds, for each thing that must happen
JOBS = int(os.environ.get("ROWLOCK_BROWSER_LOCKS", "10000"))
LOCKS = JOBS + 14  # with those of the scene, and the election
ALL = f"{LOCKS} locks"
HOSTILE = ["<img src=x onerror=\"document.title='hacked'\">", "a/b?c#d%2F&e", "\u202egnp.txt\u2066",
           "'; DROP TABLE rowlock_lock; --", "\u65e5\u672c\u8a9e/\u05e9\u05dc\u05d5\u05dd/\U0001f512", "n" * 255]


class Browser:
    """One Chromium with one page."""

    def __init__(self, folder):
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        if not program:
            print("chromium is not installed")
            sys.exit(69)
        to_browser, self.to = os.pipe()
        self.of, from_browser = os.pipe()

        def give_pipes():
            # The browser expects the pipes at these numbers, which may be in use.
            low, high = os.dup(to_browser), os.dup(from_browser)
            low, high = (os.dup(low), os.dup(high)) if {low, high} & {3, 4} else (low, high)
            os.dup2(low, 3)
            os.dup2(high, 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe",
             f"--user-data-dir={folder}/profile", "about:blank"],
            preexec_fn=give_pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.text = b""
        self.number = 0
        self.session = None
        self.complaints = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Accessibility"):
            self.call(f"{domain}.enable")
        self.resize(1280, 800)

    def close(self):
        self.process.terminate()
        self.process.wait()

    def message(self):
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self.text:
            if not select.select([self.of], [], [], max(0, deadline - time.monotonic()))[0]:
                raise RuntimeError("the browser is silent")
            more = os.read(self.of, 1 << 20)
            if not more:
                raise RuntimeError("the browser has ended")
            self.text += more
        one, self.text = self.text.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **parameters):
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.to, json.dumps(command).encode() + b"\0")
        while True:
            got = self.message()
            if got.get("id") == self.number:
                if "error" in got:
                    raise RuntimeError(f"{method}: {got['error']}")
                return got["result"]
            if got.get("method") == "Runtime.exceptionThrown":
                self.complaints.append(json.dumps(got["params"]["exceptionDetails"])[:600])
            if got.get("method") == "Log.entryAdded" and got["params"]["entry"]["source"] in ("security", "violation"):
                self.complaints.append(got["params"]["entry"]["text"])

    def value(self, expression):
        got = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in got:
            raise RuntimeError(f"{expression}: {json.dumps(got['exceptionDetails'])[:500]}")
        return got["result"].get("value")

    def until(self, expression, what=None):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                got = self.value(f"Boolean({expression})")
            except RuntimeError:
                got = None  # the page is being replaced
            if got:
                return got
            time.sleep(0.1)
        raise RuntimeError(f"never: {what or expression}; the page says: {self.value('document.body.innerText')[:1500]}")

    def until_text(self, text, where="main"):
        return self.until(f"document.querySelector({where!r}).innerText.includes({json.dumps(text)})", text)

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.until("document.readyState === 'complete'")
        # The page's requests are listed in `asked`, and those that begin with `refused` are refused.
        self.value("""(() => { const real = fetch; window.asked = []; window.refused = null;
            window.fetch = (path, options) => { asked.push(path); return refused && path.startsWith(refused)
                ? Promise.resolve(new Response('{}', {status: 429})) : real(path, options); }; })()""")

    def go(self, fragment):
        self.value(f"location.hash = {json.dumps(fragment)}")

    def click(self, text):
        self.until(f"""(() => {{ const found = [...document.querySelectorAll('button, a')].find((one) =>
            one.offsetParent && !one.matches(':disabled') && one.textContent.trim() === {json.dumps(text)});
            found?.click(); return Boolean(found); }})()""", f"a button '{text}'")

    def fill(self, selector, text):
        self.until(f"document.querySelector({selector!r})")
        self.value(f"""(() => {{ const field = document.querySelector({selector!r}); field.focus();
            field.value = {json.dumps(text)}; field.dispatchEvent(new Event('input', {{bubbles: true}})); }})()""")

    def press(self, name, code):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code,
                      **({"text": "\r"} if name == "Enter" and kind == "keyDown" else {}))

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def scheme(self, name):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))


class Scene:
    """A database with locks of many kinds, and a server beside it."""

    def __init__(self, rowlock, folder):
        self.rowlock, self.folder = rowlock, folder
        self.database = f"{folder}/locks.db"
        self.environment = {**os.environ, "ROWLOCK_URL": f"sqlite:{self.database}"}
        self.holders = []
        self.run("migrate", "up")
        self.tokens = {}
        lines = []
        for name, roles in (("alice", ["read", "operate"]), ("viewer", ["read"])):
            made = self.run("serve", "--new-token", name, *roles)
            self.tokens[name] = re.search("token: (.*)", made)[1]
            lines.append(re.search("line: *(.*)", made)[1])
        with open(f"{folder}/tokens", "w") as file:
            os.chmod(file.name, 0o600)
            file.write("\n".join(lines) + "\n")
        self.run("history", "--record", "billing/*")
        self.hold("billing/nightly")
        self.start("run", "billing/nightly", "--", "true")
        self.start("run", "billing/nightly", "--", "true")
        self.hold("pool", "--capacity", "4")
        self.hold("printers/2")
        self.passing = self.hold("printers/3")
        self.fill()
        self.server = subprocess.Popen(
            [rowlock, "serve", "--listen", "127.0.0.1:0", "--tokens", f"{folder}/tokens", "--rate", "0", "--drain", "1s"],
            env=self.environment, stderr=subprocess.PIPE, text=True)
        self.said = []
        while not (self.said and "listening on" in self.said[-1]):
            line = self.server.stderr.readline()
            if not line:
                raise RuntimeError("the server has ended: " + "".join(self.said))
            self.said.append(line)
        self.url = re.search(r"http://\S+", self.said[-1])[0]

    def run(self, *words):
        done = subprocess.run([self.rowlock, *words], env=self.environment, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{words}: {done.stderr}")
        return done.stdout

    def start(self, *words):
        one = subprocess.Popen([self.rowlock, *words], env=self.environment, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.holders.append(one)
        return one

    def hold(self, name, *options):
        one = self.start("run", *options, name, "--", "sh", "-c", "echo held; cat >/dev/null")
        if one.stdout.readline() != "held\n":
            raise RuntimeError(f"'{name}' was not acquired")
        return one

    def pass_on(self):
        self.passing.stdin.close()
        self.passing.wait()
        self.passing = self.hold("printers/3")

    # What no command makes quickly: many locks, hostile names, a latch, a deadlock.
    def fill(self):
        db = sqlite3.connect(self.database, timeout=30)
        token, used = db.execute("SELECT token, used_at FROM rowlock_lock LIMIT 1").fetchone()
        created, expires = db.execute("SELECT created_at, expires_at FROM rowlock_lease LIMIT 1").fetchone()
        hour = 3600 * (1_000_000 if created > 10**14 else 1000)
        lock = ("INSERT INTO rowlock_lock (name, kind, capacity, in_use, token, next_ticket, lease_id, hold_id, has_queue,"
                " used_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        idle = [(f"job/{i:05}", "mutex", 1, 0, token, 1, None, None, 0, used) for i in range(JOBS)]
        idle += [(name, "mutex", 1, 0, token, 1, None, None, 0, used) for name in HOSTILE]
        db.executemany(lock, idle)
        db.execute(lock, ("gate", "latch", 3, 1, token, 1, None, None, 0, used))
        db.execute("INSERT INTO rowlock_permit (name, hold_id, lease_id, weight, token, granted_at)"
                   " VALUES ('gate', ?, ?, 1, ?, ?)", ("1" * 32, "0" * 32, token, created))
        for i, name in enumerate(("left", "right")):
            lease, other = f"{i + 1:032x}", f"{2 - i:032x}"
            db.execute("INSERT INTO rowlock_lease (id, client_id, host, pid, application, ttl_ms, expires_at, created_at)"
                       " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                       (lease, lease, f"host-{i + 1}", 4711 + i, "transfer", 3_600_000, created + hour, created))
            # All requests of a thread share the first half of their ids.
            held, wanted = f"{i + 1:016x}{1:016x}", f"{i + 1:016x}{2:016x}"
            db.execute(lock, (f"accounts/{name}", "mutex", 1, 1, token, 2, lease, held, 1, used))
            db.execute("INSERT INTO rowlock_queue (name, ticket, hold_id, lease_id) VALUES (?, 1, ?, ?)",
                       (f"accounts/{('right', 'left')[i]}", wanted, lease))
        db.commit()
        db.close()

    def away(self):
        for end in ("", "-wal", "-shm"):
            if os.path.exists(self.database + end):
                os.rename(self.database + end, f"{self.database}.away{end}")
        os.mkdir(self.database)  # nothing can open it

    def back(self):
        os.rmdir(self.database)
        for end in ("-shm", "-wal", ""):
            if os.path.exists(f"{self.database}.away{end}"):
                os.rename(f"{self.database}.away{end}", self.database + end)

    def end(self):
        for one in self.holders:
            one.kill()
            one.wait()
        self.server.send_signal(signal.SIGTERM)
        try:
            return self.server.wait(30)
        except subprocess.TimeoutExpired:
            self.server.kill()
            return "no end within 30 s"


class Checks:
    def __init__(self, browser, scene, pictures):
        self.browser, self.scene, self.pictures = browser, scene, pictures
        self.passed = self.failed = 0

    def picture(self, name):
        if self.pictures:
            self.browser.picture(f"{self.pictures}/{name}.png")

    def run(self):
        for name in [one for one in type(self).__dict__ if one.startswith("check_")]:
            wanted = ["a_wrong", "a_viewer", "filter", *sys.argv[3:]]
            if len(sys.argv) > 3 and not any(word in name for word in wanted):
                continue
            began = time.monotonic()
            try:
                getattr(self, name)()
                if self.browser.complaints:
                    raise RuntimeError("; ".join(self.browser.complaints))
                self.passed += 1
                print(f"ok: {name[6:]} ({time.monotonic() - began:.1f} s)", flush=True)
            except Exception as problem:
                self.failed += 1
                self.browser.complaints.clear()
                print(f"failed: {name[6:]}: {problem}", flush=True)
                self.picture(f"failed-{name[6:]}")

    def sign_in(self, who):
        self.browser.fill("#token", self.scene.tokens.get(who, who))
        self.browser.click("Sign in")

    def check_a_wrong_token_is_refused(self):
        self.browser.open(self.scene.url)
        self.browser.until_text("needs a token")
        self.sign_in("rowlock_wrong")
        self.browser.until_text("not one of this server")
        self.picture("login")

    def check_a_viewer_sees_the_locks_and_no_action(self):
        self.sign_in("viewer")
        self.browser.until_text(ALL)
        self.browser.until_text("Live", "#status")
        self.picture("locks")
        self.browser.go("#/locks/billing%2Fnightly")
        self.browser.until_text("Holders")
        if self.browser.value("document.querySelectorAll('.actions button').length"):
            raise RuntimeError("a viewer is offered an action")
        self.browser.click("Forget the token")
        self.browser.until_text("needs a token")
        if self.browser.value("sessionStorage.length"):
            raise RuntimeError("the token was not forgotten")

    def check_two_quick_submits_begin_one_session(self):
        self.browser.fill("#token", self.scene.tokens["viewer"])
        self.browser.value("""(() => { const form = document.querySelector('.login'); asked.length = 0;
            form.requestSubmit(); form.requestSubmit(); })()""")
        self.browser.until_text("Live", "#status")
        time.sleep(1)
        sessions = self.browser.value("asked.filter((one) => one === '/api/events').length")
        if sessions != 1:
            raise RuntimeError(f"{sessions} sessions have begun")
        self.browser.click("Forget the token")
        self.browser.until_text("needs a token")

    def check_filter_sort_and_pages(self):
        self.sign_in("alice")
        self.browser.until_text("billing/nightly")  # the page that was open
        self.browser.go("#/locks")
        self.browser.until_text(ALL)
        self.browser.click("Next")
        self.browser.until_text(f"Page 2 of {-(-LOCKS // 100)}")
        began = time.monotonic()
        self.browser.fill("#filter", "JOB/0012")
        self.browser.until_text(f"10 of {ALL}")
        self.browser.fill("#filter", "")
        self.browser.click("Waiters")
        self.browser.click("Waiters")
        self.browser.until("document.querySelector('tbody tr').dataset.name === 'billing/nightly'")
        self.browser.until("document.querySelectorAll('th[aria-sort=descending]').length === 1")
        print(f"    filtered and sorted in {time.monotonic() - began:.1f} s")
        self.picture("locks-sorted")

    def check_a_latch_in_use_is_not_in_trouble(self):
        self.browser.go("#/locks")
        self.browser.fill("#filter", "gate")
        self.browser.until("document.querySelector('tr[data-name=gate] .badge.good')?.textContent.includes('in use')")

    def check_hostile_names_are_text(self):
        for name in HOSTILE:
            self.browser.go("#/locks")
            self.browser.fill("#filter", name)
            self.browser.until("document.querySelectorAll('tbody tr').length === 1", name)
            self.browser.value("document.querySelector('tbody a').click()")
            self.browser.until_text("Nobody holds it")
            if self.browser.value("document.querySelector('main img') || document.title === 'hacked'"):
                raise RuntimeError(f"{name} became markup")
        self.browser.go("#/locks/" + "%E2%80%AEgnp.txt%E2%81%A6")
        self.browser.until_text("\u27e8U+202E\u27e9gnp.txt")
        self.picture("hostile")

    def check_a_lock_and_its_history(self):
        self.browser.go("#/locks/billing%2Fnightly")
        self.browser.until_text("granted")
        self.browser.until("document.querySelectorAll('#queue ~ .wide tbody tr').length === 2")
        self.picture("lock")

    def check_an_action_needs_a_reason_and_a_confirmation(self):
        self.browser.click("Release by force\u2026")
        self.browser.until("document.querySelector('dialog').open && document.activeElement.id === 'reason'")
        self.picture("force")
        self.browser.click("Release by force")
        time.sleep(0.5)
        if not self.browser.value("document.querySelector('dialog').open"):
            raise RuntimeError("it was done without a reason")
        self.browser.press("Escape", 27)
        self.browser.until("!document.querySelector('dialog').open")

    def check_ask_for_a_release(self):
        self.browser.go("#/locks/printers%2F2")
        self.browser.click("Ask for its release\u2026")
        self.browser.fill("#reason", "deploy <4711>")
        self.browser.fill("#number", "1")
        self.browser.click("Ask")
        self.browser.until_text("asked, and still have it")

    def check_stop_waiting_ends_its_own_dialog_alone(self):
        self.browser.go("#/locks/billing%2Fnightly")
        self.browser.click("Ask for its release\u2026")
        self.browser.fill("#reason", "deploy")
        self.browser.fill("#number", "20")
        self.browser.click("Ask")
        self.browser.click("Stop waiting")
        self.browser.until_text("You stopped waiting")
        self.browser.click("Release by force\u2026")
        time.sleep(21)
        if not self.browser.value("document.querySelector('dialog').open"):
            raise RuntimeError("the answer to the first action closed the dialog of the second one")
        self.browser.press("Escape", 27)
        self.browser.until("!document.querySelector('dialog').open")

    def check_force_spares_a_holder_that_was_not_shown(self):
        self.browser.go("#/locks/printers%2F3")
        self.browser.click("Release by force\u2026")
        self.browser.until_text("loses the lock at once", "dialog")
        self.scene.pass_on()
        self.browser.fill("#reason", "it hangs")
        self.browser.value("document.querySelector('#check').click()")
        self.browser.click("Release by force")
        self.browser.until_text("The holder that you saw no longer has it")
        self.browser.until("document.querySelectorAll('#holders ~ .wide tbody tr').length === 1")

    def check_release_by_force(self):
        self.browser.go("#/locks/printers%2F2")
        self.browser.click("Release by force\u2026")
        self.browser.fill("#reason", "the host is on fire")
        self.browser.value("document.querySelector('#check').click()")
        self.browser.click("Release by force")
        self.browser.until_text("released by force")
        self.browser.until_text("Nobody holds it")

    def check_resize(self):
        self.browser.go("#/locks/pool")
        self.browser.click("Change the capacity\u2026")
        self.browser.fill("#reason", "more workers")
        self.browser.fill("#number", "7")
        self.browser.value("document.querySelector('#check').click()")
        self.browser.click("Change it")
        self.browser.until_text("1 of 7")
        self.browser.click("Change the capacity\u2026")
        self.browser.until("document.querySelector('dialog').open")
        proposed = self.browser.value("document.querySelector('#number').value")
        if proposed != "7":
            raise RuntimeError(f"the dialog proposes the capacity {proposed}")
        self.browser.press("Escape", 27)
        self.browser.until("!document.querySelector('dialog').open")

    def check_the_graph_marks_a_deadlock(self):
        self.browser.go("#/graph")
        self.browser.until_text("One deadlock")
        self.browser.until("document.querySelectorAll('.edge.stuck').length >= 2")
        self.picture("graph")

    def check_health(self):
        self.browser.go("#/health")
        self.browser.until_text("rowlock doctor")
        self.browser.until_text("this server")
        self.picture("health")

    def check_the_keyboard_reaches_everything(self):
        self.browser.go("#/locks")
        self.browser.until_text(ALL)
        self.browser.value("document.activeElement.blur(), document.querySelector('.skip').focus()")
        seen = set()
        for _ in range(16):
            self.browser.press("Tab", 9)
            seen.add(self.browser.value("document.activeElement.id || document.activeElement.textContent.trim()"))
        missing = {"Locks", "Wait graph", "Health", "filter", "choice", "Name", "Waiters"} - seen
        if missing:
            raise RuntimeError(f"Tab does not reach {missing}")

    def check_every_control_has_a_name(self):
        for page in ("#/locks", "#/locks/billing%2Fnightly", "#/graph", "#/health"):
            self.browser.go(page)
            self.browser.until("document.querySelector('h1')")
            time.sleep(0.5)
            for node in self.browser.call("Accessibility.getFullAXTree")["nodes"]:
                role = node.get("role", {}).get("value")
                if role in ("button", "link", "textbox", "searchbox", "combobox", "table") and not node.get("ignored"):
                    if not node.get("name", {}).get("value"):
                        raise RuntimeError(f"a {role} on {page} has no name")

    def check_narrow(self):
        self.browser.resize(390, 800)
        for page, name in (("#/locks", "locks"), ("#/locks/billing%2Fnightly", "lock"), ("#/graph", "graph")):
            self.browser.go(page)
            self.browser.until("document.querySelector('main table, main svg')")
            time.sleep(0.5)
            self.picture(f"phone-{name}")
            if self.browser.value("document.documentElement.scrollWidth > innerWidth"):
                raise RuntimeError(f"{page} is wider than a phone")

    def check_dark(self):
        self.browser.resize(1280, 800)
        self.browser.scheme("dark")
        for page, name in (("#/locks/billing%2Fnightly", "lock"), ("#/graph", "graph")):
            self.browser.go(page)
            self.browser.until("document.querySelector('main table, main svg')")
            time.sleep(0.5)
            self.picture(f"dark-{name}")
        self.browser.scheme("light")

    def check_it_is_stale_while_the_database_is_away(self):
        self.browser.go("#/locks")
        self.browser.until_text(ALL)
        self.scene.away()
        try:
            self.browser.until_text("Stale since", "#status")
            self.picture("stale")
        finally:
            self.scene.back()
        self.browser.until_text("Live", "#status")
        self.browser.until_text(ALL)

    def check_it_stays_stale_while_its_reading_fails(self):
        self.browser.go("#/locks/pool")
        self.browser.until("document.querySelector('.actions button:enabled')")
        self.browser.value("refused = '/api/locks/pool'")
        try:
            self.browser.until_text("Stale since", "#status")
            self.browser.value("""(() => { const line = document.getElementById('status'); window.lines = [];
                new MutationObserver(() => lines.push(line.textContent)).observe(line, {childList: true}); })()""")
            time.sleep(4)
            if self.browser.value("lines.some((one) => one.includes('Live'))"):
                raise RuntimeError("the next event called the data live")
            if self.browser.value("document.querySelector('.actions button:enabled')"):
                raise RuntimeError("an action is offered while the data are stale")
        finally:
            self.browser.value("refused = null")
        self.browser.until_text("Live", "#status")
        self.browser.until("document.querySelector('.actions button:enabled')")

    def check_it_recovers_when_the_server_was_away(self):
        self.browser.value("asked.length = 0")
        os.kill(self.scene.server.pid, signal.SIGSTOP)
        try:
            self.browser.until_text("Stale since", "#status")
            self.browser.until("asked.includes('/api/events')", "a new connection instead of the silent one")
        finally:
            os.kill(self.scene.server.pid, signal.SIGCONT)
        self.browser.until_text("Live", "#status")


def main():
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 64
    pictures = sys.argv[2] if len(sys.argv) > 2 else None
    if pictures:
        os.makedirs(pictures, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="rowlock-browser.")
    browser = scene = None
    try:
        browser = Browser(folder)
        scene = Scene(os.path.abspath(sys.argv[1]), folder)
        checks = Checks(browser, scene, pictures)
        checks.run()
        browser.close()
        code = scene.end()
        scene = browser = None
        if code != 0:
            checks.failed += 1
            print(f"failed: the server ends with 0: {code}")
        print(f"{checks.passed} passed, {checks.failed} failed")
        return 1 if checks.failed else 0
    finally:
        if browser:
            browser.close()
        if scene:
            scene.end()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
