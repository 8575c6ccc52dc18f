"""The ten pieces of work the sessions are about: folders, files, what people ask, what is found."""

from __future__ import annotations

from typing import NamedTuple


class Topic(NamedTuple):
    """One piece of work."""

    name: str
    files: tuple[str, ...]
    things: tuple[str, ...]
    places: tuple[str, ...]
    asks: tuple[str, ...]
    facts: tuple[str, ...]
    test: str
    host: str

    @property
    def folder(self) -> str:
        """Where the work lies."""
        return f"/home/ada/{self.name}"


_ALL = (
    Topic(
        "birds",
        ("data/obs.csv", "data/stations.csv", "counts.py", "notes/ringing.md", "tests/test_counts.py"),
        ("species column", "duplicate row", "ringing number", "station code", "dusk count"),
        ("east marsh", "the weir", "north hide", "reed bed"),
        (
            "How many wrens are in data/obs.csv, by month?",
            "Count the birds per station and leave the duplicates out.",
            "Station {place} shows {n} robins in one night. Is that real or a typing slip?",
            "Make a table of dusk counts at {place} and tell me which days are missing.",
            "Compare this year's {thing} with the public list, please.",
        ),
        (
            "{n} of {m} rows were doubled",
            "{place} has {n} wrens and {m} robins",
            "the ringing numbers jump at row {m}",
            "{n} days have no count",
        ),
        "pytest -q",
        "birds.example",
    ),
    Topic(
        "tides",
        ("tables/2026.csv", "tides.py", "harmonics.toml", "docs/datum.md", "tests/test_tides.py"),
        ("chart datum", "low water", "harmonic constant", "time zone", "spring tide"),
        ("berth 7", "the outer mole", "lock gate", "north quay"),
        (
            "The table for {place} is an hour off since October. Find out why.",
            "Work out low water at {place} for the coming week.",
            "Add harmonic number {n} to tides.py and check it against the printed table.",
            "Which days in 2027 have a spring tide over {n} decimetres at {place}?",
            "Turn tables/2026.csv into a calendar file people can subscribe to.",
        ),
        (
            "the clock change moved {n} lines",
            "{place} reads {n} cm above datum",
            "{m} predictions agree within {n} mm",
            "one harmonic was entered twice",
        ),
        "pytest -q tests",
        "tides.example",
    ),
    Topic(
        "parser",
        ("src/reader.py", "src/quotes.py", "src/errors.py", "tests/test_reader.py", "CHANGELOG.md"),
        ("quoted field", "line ending", "escape rule", "empty last column", "byte order mark"),
        ("release 3", "the nightly job", "issue 41", "the old branch"),
        (
            "A quoted field with a line break breaks the reader. Write a failing test, then fix it.",
            "Why does {place} read {n} rows fewer than before?",
            "Make the errors name the line and the column, as issue 41 asks.",
            "The reader takes {n} s on a big file. Profile it and tell me where the time goes.",
            "Support a byte order mark and say so in the changelog.",
        ),
        (
            "{n} tests were added",
            "the reader lost {n} rows at a lone carriage return",
            "line {m} was counted twice",
            "the slow part is the {n}-fold copy in quotes.py",
        ),
        "pytest -x",
        "issues.example",
    ),
    Topic(
        "ferry",
        ("feed/stops.txt", "feed/times.txt", "build_feed.py", "check_feed.py", "README.md"),
        ("stop id", "winter timetable", "transfer time", "calendar row", "missing pier"),
        ("pier 2", "the mill island", "the lighthouse", "the old quay"),
        (
            "Build the winter timetable feed and check it with check_feed.py.",
            "The boat from {place} leaves {n} minutes early in the feed. Fix the source, not the output.",
            "Merge the {n} stops that stand within ten metres of each other.",
            "Fetch the published timetable for {place} and list what differs.",
            "Write a page that shows the next three boats from {place}.",
        ),
        (
            "{n} stop ids pointed nowhere",
            "{place} has {n} sailings a week",
            "{m} rows passed the check",
            "the holiday calendar ended in March",
        ),
        "python check_feed.py feed",
        "ferry.example",
    ),
    Topic(
        "herbarium",
        ("scans/index.csv", "labels.py", "places.csv", "review/queue.csv", "tests/test_labels.py"),
        ("label text", "collector name", "year of finding", "place name", "sheet number"),
        ("drawer 12", "the alpine cabinet", "box 4", "the loan shelf"),
        (
            "Read the label texts of {place} into the index.",
            "{n} labels have no year. Fill in those where the collector's other sheets settle it.",
            "Match the place names with places.csv and put doubtful ones in the review queue.",
            "Which sheets of {place} are counted twice?",
            "Draft a note to the lender about the {n} sheets that are missing.",
        ),
        (
            "{n} sheets were scanned twice",
            "{m} labels could be read",
            "{place} holds {n} sheets without a year",
            "{n} names went to the review queue",
        ),
        "pytest -q",
        "plants.example",
    ),
    Topic(
        "lantern",
        ("index.html", "style.css", "lantern.js", "assets/frame.svg", "tests/page.test.js"),
        ("flame colour", "frame path", "tab order", "reduced motion", "print style"),
        ("the header", "the gallery", "narrow screens", "dark mode"),
        (
            "Draw a paper lantern in plain SVG and let it glow when one hovers over it.",
            "The page jumps on {place}. Find the rule that does it.",
            "Make the gallery usable with the keyboard alone.",
            "Cut the page to under {n} kB without losing the frame.",
            "Add a print style that leaves the flame out.",
        ),
        (
            "{n} rules were never used",
            "the page is {n} kB now",
            "{place} kept a fixed width of {m} px",
            "the flame repaints {n} times a second",
        ),
        "npm test --silent",
        "pages.example",
    ),
    Topic(
        "moths",
        ("nights/2026-08.csv", "nights/2026-09.csv", "lamps.csv", "season.py", "notes/names.md"),
        ("lamp id", "night sheet", "old name", "wind column", "trap count"),
        ("the orchard trap", "lamp 3", "the chalk pit", "garden wall"),
        (
            "Join the night sheets of August and September and count moths per lamp.",
            "The names changed this year. Map the old ones with notes/names.md.",
            "Is the drop at {place} wind, or a broken lamp?",
            "Plot nothing yet, just give me the {n} best nights at {place}.",
            "The sheet of {place} has strange characters in row {n}. What are they?",
        ),
        (
            "{n} old names were mapped",
            "{place} counted {m} moths in {n} nights",
            "the lamp was off for {n} nights",
            "row {n} held markup from a web form",
        ),
        "python season.py --check",
        "moths.example",
    ),
    Topic(
        "rain",
        ("gauges/daily.csv", "gauges/meta.json", "fetch.py", "report.py", "reports/latest.md"),
        ("gauge id", "missing hour", "tipping count", "daily sum", "flood mark"),
        ("gauge 11", "the upper valley", "mill bridge", "the reservoir"),
        (
            "Fetch yesterday's gauges and write the daily report.",
            "Morning rain report: sums per valley and anything unusual.",
            "{place} reports {n} mm in one hour. Check it against its neighbours.",
            "Fill the gap of {n} hours at {place}, and mark what is filled.",
            "Which gauges drifted since summer?",
        ),
        (
            "{n} gauges answered, {n} did not",
            "{place} had {n} mm",
            "{m} hours are filled in and marked",
            "one gauge tips twice per count",
        ),
        "python report.py --dry-run",
        "rain.example",
    ),
    Topic(
        "recipes",
        ("units.py", "book/bread.md", "book/soup.md", "convert.py", "tests/test_units.py"),
        ("cup size", "oven mark", "yield line", "fraction", "unit name"),
        ("the bread chapter", "page 14", "the soup chapter", "the index"),
        (
            "Convert {place} to grams and keep the fractions readable.",
            "Scale the loaf for {n} people and round sensibly.",
            "Oven marks are wrong in {place}. Correct them from the table.",
            "Find recipes that name an ingredient but no amount.",
        ),
        (
            "{n} amounts were converted",
            "{place} used two cup sizes",
            "{n} recipes name no amount",
            "a third of a cup is {m} grams of flour",
        ),
        "pytest -q",
        "kitchen.example",
    ),
    Topic(
        "letters",
        ("pages/0001.txt", "pages/0002.txt", "people.csv", "dates.py", "review.md"),
        ("postmark", "greeting line", "date in words", "damaged page", "sender"),
        ("box 2", "the winter bundle", "page 88", "the last letter"),
        (
            "Date the letters in {place} from their postmarks.",
            "Who wrote {place}? The hand looks like that of the {n} before it.",
            "List every place named in {place}, with the line it stands on.",
            "Clean up the text of {place} without modernising the spelling.",
        ),
        (
            "{n} letters could be dated",
            "{place} has {n} damaged lines",
            "the postmark and the date differ by {n} days",
            "{m} place names were found",
        ),
        "python dates.py --check",
        "archive.example",
    ),
)

TOPICS: dict[str, Topic] = {topic.name: topic for topic in _ALL}
"""Every topic by name."""
