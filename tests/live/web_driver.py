"""A real browser, driven by the WebDriver protocol (Debian's chromium-driver): no
module beyond Python's own is needed.

    with Browser(screenshots_folder) as browser:
        browser.open("/tmp/report.html")
        browser.run("return document.title")
"""
import base64
import http.client
import json
import os
import re
import shutil
import subprocess
import tempfile


class Browser:
    def __init__(self, folder, width=1240, height=900):
        self.folder, self.size = folder, (width, height)
        os.makedirs(folder, exist_ok=True)
        self.home = tempfile.mkdtemp()
        # A home of its own: nothing of the user's browser is read or left behind.
        surroundings = dict(os.environ, HOME=self.home, XDG_CONFIG_HOME=self.home, XDG_CACHE_HOME=self.home)
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                       text=True, env=surroundings)
        self.port = None
        for line in self.driver.stdout:
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                self.port = int(found.group(1))
                break
        if not self.port:
            raise RuntimeError("chromedriver did not start")
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                     "--disable-background-networking", "--force-device-scale-factor=1", f"--window-size={width},{height}",
                     f"--user-data-dir={self.home}/profile"]
        self.session = None
        made = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": {"args": arguments},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}}})
        self.session = made["sessionId"]

    def call(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, path, json.dumps(body) if body is not None else None, {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())["value"]
        connection.close()
        if isinstance(answer, dict) and "error" in answer:
            raise RuntimeError(f"{path}: {answer['error']}: {' '.join(answer['message'].split())[:400]}")
        return answer

    def on_page(self, path, body=None):
        return self.call("POST", f"/session/{self.session}{path}", body if body is not None else {})

    def open(self, path):
        """Shows a file, and waits until it has drawn itself."""
        self.on_page("/url", {"url": "file://" + os.path.abspath(path)})
        drawn = self.wait("return document.documentElement.hasAttribute('data-ready')")
        if not drawn:
            raise AssertionError(f"{path}: not drawn; console: {self.console()}")

    def run(self, script, *arguments):
        return self.on_page("/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, script):
        """True as soon as the script's value is; False after 20 seconds."""
        return self.on_page("/execute/async", {"script": f"""
            const done = arguments[0], until = performance.now() + 20000;
            const look = () => {{ const value = (() => {{ {script} }})();
                if (value || performance.now() > until) done(Boolean(value)); else setTimeout(look, 10); }};
            look();""", "args": []})

    def frame(self):
        """Lets the page show what has changed."""
        self.on_page("/execute/async", {"script": "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done));",
                                        "args": []})

    def find(self, selector):
        return next(iter(self.on_page("/element", {"using": "css selector", "value": selector}).values()))

    def type(self, selector, text):
        self.on_page(f"/element/{self.find(selector)}/value", {"text": text})
        self.frame()

    def click(self, selector):
        self.on_page(f"/element/{self.find(selector)}/click")
        self.frame()

    def drag(self, selector, from_share, to_share):
        """Presses the mouse at a share of an element's width, moves, and lets go."""
        box = self.run("""const e = document.querySelector(arguments[0]); e.scrollIntoView({block: 'center', behavior: 'instant'});
                          const r = e.getBoundingClientRect(); return [r.left, r.top, r.width, r.height];""", selector)
        move = lambda share: {"type": "pointerMove", "duration": 20, "x": int(box[0] + box[2] * share), "y": int(box[1] + box[3] / 2)}
        self.on_page("/actions", {"actions": [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": [
            move(from_share), {"type": "pointerDown", "button": 0}, move((from_share + to_share) / 2), move(to_share),
            {"type": "pointerUp", "button": 0}]}]})
        self.frame()

    def devtools(self, command, **parameters):
        return self.on_page("/goog/cdp/execute", {"cmd": command, "params": parameters})

    def dark(self, on):
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if on else "light"}])
        self.frame()

    def screenshot(self, name):
        """The whole page, however long, as NAME.png in the folder."""
        picture = self.devtools("Page.captureScreenshot", captureBeyondViewport=True)
        path = os.path.join(self.folder, name + ".png")
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture["data"]))
        return path

    def pdf_bytes(self):
        return len(base64.b64decode(self.devtools("Page.printToPDF", printBackground=True)["data"]))

    def console(self):
        """What the console has said since it was last asked."""
        return [entry["message"] for entry in self.on_page("/se/log", {"type": "browser"})]

    def requests(self):
        """Addresses that were asked for since last asked."""
        found = []
        for entry in self.on_page("/se/log", {"type": "performance"}):
            message = json.loads(entry["message"])["message"]
            if message["method"] in ("Network.requestWillBeSent", "Network.webSocketCreated"):
                found.append(message["params"].get("request", message["params"])["url"])
        return found

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            if self.session:
                self.call("DELETE", f"/session/{self.session}")
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.driver.stdout.close()
            shutil.rmtree(self.home, ignore_errors=True)
