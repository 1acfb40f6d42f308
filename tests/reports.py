"""Pages as texts."""

from io import StringIO

from isinglass import report


def build_report(result, **options):
    """Return the page about a network."""
    page = StringIO()
    report.write_report(result, page, **options)
    return page.getvalue()


def build_comparison(result, **options):
    """Return the page about a comparison of groups."""
    page = StringIO()
    report.write_comparison(result, page, **options)
    return page.getvalue()
