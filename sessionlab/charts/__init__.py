"""One table in, one chart out: pure functions from the views of a corpus, or two runs aligned, to Altair charts.

Each takes anything with ``__arrow_c_stream__`` (polars, pyarrow, pandas, a DuckDB relation), names the columns it
draws, and draws at most a few thousand marks however long the table is. A chart carries its own look, which Altair
refuses in a part of a larger chart: set ``chart.config`` to ``altair.Undefined`` to put charts side by side in one.
"""

from sessionlab.charts.divergence import divergence
from sessionlab.charts.run_quality import run_quality
from sessionlab.charts.spend import spend
from sessionlab.charts.spend_by_model import spend_by_model
from sessionlab.charts.stop_causes import stop_causes
from sessionlab.charts.tokens import tokens
from sessionlab.charts.tool_reliability import tool_reliability

__all__ = ["divergence", "run_quality", "spend", "spend_by_model", "stop_causes", "tokens", "tool_reliability"]
