"""Prometheus metric of what the service holds back because it is damaged."""

from collections.abc import Iterable

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from api.stored.library import Library


class Damaged(Collector):
    """Counts releases, reports and errata that differ from their checksums."""

    def __init__(self, library: Library) -> None:
        """Count what `library` finds."""
        self._library = library

    def collect(self) -> Iterable[Metric]:
        """Count what the present scan of the folders found; large folders take several scans."""
        shelf = self._library.shelf()
        family = GaugeMetricFamily(
            "firstflight_api_damaged", "Folders that differ from their checksums.", labels=["kind"]
        )
        kinds = {"release": shelf.versions, "report": shelf.reports, "erratum": shelf.errata}
        for kind, found in kinds.items():
            family.add_metric([kind], sum(bool(volume.damage) for volume in found))
        yield family
