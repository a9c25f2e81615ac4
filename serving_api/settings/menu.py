"""Which menu entries are hidden from which users."""

from typing import Any

from serving_api.framework.state import State
from serving_api.settings.schemas import MENU_KEYS, MenuVisibilityChange
from serving_api.settings.stored import Document, StoredDocuments

MENU_KEY = "menu.visibility"
_LISTS = ("hide_for_user", "hide_for_admin")


class Menu:
    """The stored lists; nothing is hidden by default."""

    def __init__(self, state: State) -> None:
        self._documents = StoredDocuments(state, (MENU_KEY,))

    async def shown(self) -> dict[str, Any]:
        return _shown((await self._documents.read())[MENU_KEY])

    async def change(self, requested: MenuVisibilityChange, by: str) -> dict[str, Any]:
        """Stores the lists; one that is not given is unchanged."""
        given = {name: value for name, value in requested.model_dump().items() if value is not None}
        after = await self._documents.change(lambda stored: {MENU_KEY: {**stored[MENU_KEY], **given}}, by)
        return _shown(after[MENU_KEY])


def _shown(stored: Document) -> dict[str, Any]:
    """Each list once per entry, in the menu's order."""
    hidden = {name: set(stored.get(name, [])) for name in _LISTS}
    return {
        **{name: [key for key in MENU_KEYS if key in hidden[name]] for name in _LISTS},
        "keys": list(MENU_KEYS),
    }
