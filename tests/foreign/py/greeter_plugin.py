"""A plugin in Python, built by componentize-py."""

import wit_world
from componentize_py_types import Err


class WitWorld(wit_world.WitWorld):
    def greet(self, name: str) -> wit_world.Greeting:
        if not name:
            raise Err("whom should I greet?")
        text = f"Hello, {name}, from Python"
        return wit_world.Greeting(text, len(text))

    def sum(self, numbers: list[int]) -> int:
        return sum(numbers)
