# SPDX-License-Identifier: MIT
"""Perfetto's own page with one trace in it, served from this machine."""

import json

import browser


SECONDS = 600                   # ends what hangs; a busy machine takes minutes


class Refused(Exception):
    """Perfetto did not open the file; the text is its own."""


class Perfetto(browser.Page):
    """Use as: with Perfetto(path) as page."""

    def __init__(self, path, width=1600, height=900):
        name = "/trace.json.gz" if path.endswith(".gz") else "/trace.json"
        self.server = browser.Server(browser.perfetto_folder(), {name: path})
        self.name = name
        super().__init__(width, height)

    def __enter__(self):
        self.server.__enter__()
        try:
            self.load()
        except BaseException:
            self.__exit__()
            raise
        return self

    def address(self):
        return f"{self.server.address}/#!/?url={self.server.address}{self.name}"

    def load(self):
        self.open(self.address())
        dialog = "document.querySelector('[class*=modal-dialog]')"
        if not self.wait_for(f"window.app && (app.trace || {dialog})", SECONDS):
            raise Refused(f"not loaded in {SECONDS} s {self.said}")
        if not self.value("!!app.trace"):
            text = " ".join(self.value(dialog + ".innerText").split())
            raise Refused(text.split(" Trace: ")[0][-200:])
        self.value("waitForPerfettoIdle(300)")

    def __exit__(self, *_):
        super().__exit__()
        self.server.__exit__()

    def rows(self, select, *columns):
        """Rows of a query, each a list of the named columns."""
        query = (f"select json_group_array(json_array({', '.join(columns)}))"
                 f" as rows from ({select})")
        return json.loads(self.value(
            f"app.trace.engine.query({json.dumps(query)})"
            ".then(result => result.firstRow({rows: 'str'}).rows)"))

    def number(self, select):
        """The one number that a query gives."""
        return self.rows(f"select ({select}) as number", "number")[0][0]
