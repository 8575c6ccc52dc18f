"""A table goes in; a widget for notebooks, or a page that needs neither kernel nor network, comes out."""

from sessionlab.widgets.agent_timeline import AgentTimeline
from sessionlab.widgets.page import page
from sessionlab.widgets.taint_timeline import TaintTimeline

__all__ = ["AgentTimeline", "TaintTimeline", "page"]
