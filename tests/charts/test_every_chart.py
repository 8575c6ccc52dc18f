"""What holds for every chart: what it takes, what it refuses, how much it draws, how it looks."""

from __future__ import annotations

import random
import subprocess
import sys
from datetime import date, timedelta
from typing import Any

import altair as alt
import duckdb
import polars as pl
import pyarrow as pa
import pytest

from sessionlab import charts
from sessionlab.charts import _theme
from sessionlab.errors import MissingColumns

# Okabe and Ito, Color Universal Design (2008), without the black.
OKABE_ITO = {"#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7"}


def drawn(name: str, table: Any) -> dict[str, Any]:
    """The spec of the chart of a table."""
    spec: dict[str, Any] = getattr(charts, name)(table).to_dict()
    return spec


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast ratio as WCAG 2 defines it."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_public_names_are_sorted_functions() -> None:
    """The public list is sorted, and each name in it is a documented function."""
    assert charts.__all__ == sorted(charts.__all__)
    assert all((getattr(charts, name).__doc__ or "").strip() for name in charts.__all__)


def test_charts_load_neither_database_nor_corpus() -> None:
    """A chart is given a table: importing the charts loads no DuckDB, no formats, no views, no corpus."""
    code = (
        "import sys, sessionlab.charts\n"
        "print([name for name in sys.modules if name == 'duckdb' or name.startswith(("
        "'sessionlab.formats', 'sessionlab.views', 'sessionlab.corpus'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_arrow_table_gives_the_same_chart(name: str, table: pl.DataFrame) -> None:
    """A pyarrow table is drawn as the polars frame it came from."""
    assert drawn(name, table.to_arrow()) == drawn(name, table)


def test_record_batch_reader_gives_the_same_chart(name: str, table: pl.DataFrame) -> None:
    """A stream that can be read once only is enough."""
    reader = pa.RecordBatchReader.from_batches((arrow := table.to_arrow()).schema, arrow.to_batches())
    assert drawn(name, reader) == drawn(name, table)


def test_duckdb_relation_gives_the_same_chart(name: str, table: pl.DataFrame) -> None:
    """A relation, which Altair itself refuses, is drawn."""
    with duckdb.connect() as connection:
        given = table.to_arrow()
        assert drawn(name, connection.from_arrow(given)) == drawn(name, table)


def test_pandas_frame_gives_the_same_chart(name: str, table: pl.DataFrame) -> None:
    """A pandas frame is drawn the same, although it knows integers with gaps as floats and nulls as NaN."""
    pytest.importorskip("pandas")
    assert drawn(name, table.to_pandas()) == drawn(name, table)


def test_order_of_rows_and_further_columns_do_not_matter(name: str, table: pl.DataFrame) -> None:
    """The same rows in another order, beside columns no chart draws, give the same chart."""
    shuffled = table.reverse().select(pl.lit(b"heavy").alias("body"), pl.all())
    assert drawn(name, shuffled) == drawn(name, table)


@pytest.mark.parametrize("column", range(3))
def test_missing_column_is_named_with_those_that_are_there(name: str, table: pl.DataFrame, column: int) -> None:
    """The error says what is missing and what the table has."""
    missing = table.columns[column]
    left = table.drop(missing)
    with pytest.raises(MissingColumns) as caught:
        getattr(charts, name)(left)
    assert str(caught.value) == f"{name} needs the columns {missing}; the table given has: {', '.join(left.columns)}"


def test_table_without_columns_is_refused() -> None:
    """A table without any column says so."""
    with pytest.raises(MissingColumns) as caught:
        charts.tokens(pl.DataFrame())
    assert str(caught.value) == "tokens needs the columns day, kind, tokens; the table given has: none"


@pytest.mark.parametrize(
    ("given", "found"),
    [([{"day": 1}], "list"), (None, "NoneType"), (pl.LazyFrame(), "LazyFrame: collect() it first")],
)
def test_what_is_no_table_is_refused(given: Any, found: str) -> None:
    """Something else than a table is a TypeError that says what is taken."""
    with pytest.raises(TypeError) as caught:
        charts.tokens(given)
    assert str(caught.value) == (
        "tokens draws a table with __arrow_c_stream__ (polars, pyarrow, pandas 2.2 or newer, a DuckDB relation); "
        f"found {found}"
    )


def test_single_column_is_refused() -> None:
    """An Arrow stream of one column is no table."""
    with pytest.raises(TypeError, match="tokens draws a table of columns; found one column: ChunkedArray"):
        charts.tokens(pa.chunked_array([[1, 2]]))


def test_wrong_type_is_refused_not_guessed(tables: dict[str, pl.DataFrame]) -> None:
    """Text is not read as a number."""
    table = tables["tokens"].with_columns(pl.col("tokens").cast(pl.String))
    with pytest.raises(TypeError) as caught:
        charts.tokens(table)
    assert str(caught.value) == "tokens needs tokens as BIGINT; found String: cast it first"


def test_empty_table_says_no_data(name: str, table: pl.DataFrame) -> None:
    """A table without rows gives a chart of the same size that says so, under its title."""
    spec = drawn(name, table.head(0))
    assert [row for rows in spec["datasets"].values() for row in rows] == [{"words": "no data"}]
    assert spec["mark"]["type"] == "text"
    assert (spec["width"], spec["height"]) == (640, 280)
    assert spec["title"]["text"]


def test_empty_columns_of_no_type_say_no_data(name: str, table: pl.DataFrame) -> None:
    """Columns that hold only nulls of no type, as an empty pandas or Arrow table has them, are no error."""
    empty = pa.table({column: pa.array([], pa.null()) for column in table.columns})
    assert drawn(name, empty) == drawn(name, table.head(0))


def test_all_null_rows_are_drawn_or_told(name: str, table: pl.DataFrame) -> None:
    """A row that tells nothing raises nothing."""
    nulls = pa.table({column: pa.nulls(1) for column in table.columns})
    assert drawn(name, nulls)["title"]["text"]


def test_hundred_thousand_rows_stay_below_altairs_limit(name: str, table: pl.DataFrame) -> None:
    """Whatever the rows are, what is drawn stays below the 5,000 rows at which Altair stops."""
    dice = random.Random(4)
    size = 100_000

    def column(of: str, kind: pl.DataType) -> list[Any]:
        if kind == pl.Date:
            return [date(1, 1, 1) + timedelta(dice.randrange(3_650_000)) for _ in range(size)]
        if kind == pl.String:
            return [f"{of} {dice.randrange(50_000)}" for _ in range(size)]
        return [dice.randrange(1, 50) for _ in range(size)]

    rows = pl.DataFrame({of: column(of, kind) for of, kind in table.schema.items()}, schema_overrides=table.schema)
    spec = drawn(name, rows)
    assert 0 < sum(len(rows) for rows in spec["datasets"].values()) < 5_000


def test_look_is_the_same_everywhere(name: str, table: pl.DataFrame) -> None:
    """Every chart, the empty one too, is transparent and says what it shows to those who cannot see it."""
    for rows in (table, table.head(0)):
        spec = drawn(name, rows)
        assert spec["config"]["background"] == "transparent"
        assert spec["config"]["axis"]["labelColor"] == _theme.INK
        assert spec["description"].startswith(spec["title"]["text"])


def test_colours_are_those_of_okabe_and_ito(name: str, table: pl.DataFrame, read: Any) -> None:
    """No scale holds a colour from outside the palette but the two greys."""
    ranges = [scale["range"] for scale in read(getattr(charts, name)(table)).parts("scale") if "range" in scale]
    colours = {colour for one in ranges for colour in one if isinstance(colour, str) and colour.startswith("#")}
    assert colours <= OKABE_ITO | {_theme.GREY}
    assert set(_theme.SERIES) == OKABE_ITO


@pytest.mark.parametrize("paper", ["#FFFFFF", "#111111"])
def test_ink_is_readable_on_light_and_dark(paper: str) -> None:
    """Text stands out from white and from JupyterLab's dark page by more than 4.3 to 1, greys by more than 2.8 to 1."""
    assert contrast(_theme.INK, paper) > 4.3
    assert contrast(_theme.GREY, paper) > 2.8


def test_charts_can_stand_side_by_side(tables: dict[str, pl.DataFrame]) -> None:
    """Without their look, as the package says, two charts make one."""
    pair = [charts.spend(tables["spend"]), charts.tool_reliability(tables["tool_reliability"])]
    for chart in pair:
        chart.config = alt.Undefined
    assert len(alt.vconcat(*pair).to_dict()["vconcat"]) == 2


def test_vega_accepts_the_spec(name: str, table: pl.DataFrame) -> None:
    """Vega-Lite compiles and draws the chart; its title, axis titles and labels stand in the picture."""
    vl_convert = pytest.importorskip("vl_convert")
    spec = drawn(name, table)
    svg = vl_convert.vegalite_to_svg(spec)
    assert spec["title"]["text"].replace("<", "&lt;") in svg
    expected = {
        "divergence": ["recorded", "fs_list", "≠", "not compared"],
        "spend": ["cost (US dollars)", "day (2026)", "2 Mar", "mystery"],
        "spend_by_model": ["≥ $6.25 · 5 charges unpriced", "mini · home", "$0.00", "— · 7 charges unpriced"],
        "stop_causes": ["max_turns", "5 · 20.8%", "error · (not told)"],
        "tool_reliability": ["share of calls", "Bash", "40", "median (dot) to 95th percentile (tick)"],
        "tokens": ["tokens", "60k", "cache read", "3 Mar"],
        "run_quality": ["share (of tool calls, of runs)", "runs cut short", "5 Mar"],
    }
    assert [words for words in expected[name] if words not in svg] == []
