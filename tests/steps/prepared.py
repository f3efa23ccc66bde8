# SPDX-License-Identifier: MIT
"""What corpora prepare before a program is run: its files, and its command."""

import os


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


def files(command, **texts):
    def prepare(folder):
        for name, text in texts.items():
            write(folder, name.replace("_", "."), text)
        return command
    return prepare


def script(text):
    return lambda _: ["Rscript", "-e", text]
