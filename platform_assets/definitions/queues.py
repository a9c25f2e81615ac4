"""The queue of each table's step, for runs whose steps are executed by workers on several machines."""

from collections.abc import Mapping

from core.declaration.tables import Layer

DOWNLOAD, FUSE, CALC = QUEUES = ("download", "fuse", "calc")
TAG = "dagster-celery/queue"
"""Read by the executor of dagster-celery."""


def queue_tags(layer: Layer) -> Mapping[str, str]:
    """Tags of the step that loads a table of this layer: what asks upstreams, what stages and fuses, what is
    calculated."""
    if layer is Layer.RAW:
        return {TAG: DOWNLOAD}
    return {TAG: CALC if layer in {Layer.CALC, Layer.NOTE} else FUSE}
