"""A session's whole id in; its transcript and all that was derived from it deleted, and a report out (mecha 15.2-15.5).

Deleting is forgetting: a walk over every store that copies from a transcript, in an order that a failure or a kill at
any point leaves to be finished by the same command. The submodules: ``places`` (where the stores are), ``stores``
(what each is and how its rows point at a session, as data), ``spans`` and ``pointing`` (a JSON row without what
points, its other bytes untouched), ``rules`` (the same for rules in TOML), ``rows`` (files of a store), ``disk``
(reading and replacing, really or rehearsed), ``graph`` (the knowledge graph's program), ``workspace``, ``search`` (who
still holds the id), ``report``, ``walk`` (the order of effects).
"""

from __future__ import annotations

from sessionlab.systems.mecha.forgetting.graph import Graph
from sessionlab.systems.mecha.forgetting.places import Places, places
from sessionlab.systems.mecha.forgetting.report import Report
from sessionlab.systems.mecha.forgetting.stores import shapes
from sessionlab.systems.mecha.forgetting.walk import STEPS, forget, unfinished

__all__ = ["STEPS", "Graph", "Places", "Report", "forget", "places", "shapes", "unfinished"]
