"""Every command that computes, as a process, on small tables; only `make test-oldest` runs this."""

import pytest
from commands import draw_rows, read_csv, run_process, write_csv, write_table


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("oldest")
    write_table(place / "table.csv")
    grouped = [[*row, "ab"[k % 2]] for k, row in enumerate(draw_rows(120).tolist())]
    write_csv(place / "groups.csv", [*"uvwxyz", "group"], grouped)
    scales = [[2 * a + b, 2 * b + c, 2 * c + a] for a, b, c, *_ in draw_rows(200).tolist()]
    write_csv(place / "scales.csv", [*"abc"], scales)
    return place


def test_fit_report_bootstrap_and_the_rest(folder):
    table, net = folder / "table.csv", folder / "net"
    assert len(read_csv(run_process("fit", table, "-q").stdout)) >= 5  # the chain
    run_process("fit", table, "-o", net)
    run_process("bootstrap", table, "-B", 20, "-o", folder / "boot")
    run_process("report", net, table, "--bootstrap", folder / "boot", "-o", folder / "report.html")
    assert "<html" in (folder / "report.html").read_text(encoding="utf-8")[:500]
    for words in (
        ["info", table],
        ["predict", net, table],
        ["export", net, "-o", folder / "net.gexf"],
    ):
        run_process(*words)
    run_process("compare", folder / "groups.csv", "--groups", "group", "--resamples", 20, "-o", folder / "groups")
    run_process("power", net, "--rows", "50,100", "-B", 2, "--alpha", 0.1)


@pytest.mark.parametrize("method", ["joint", "nodewise"])
def test_columns_with_categories(folder, method):
    net = folder / f"scales-{method}"
    run_process("fit", folder / "scales.csv", "--ordinal", "*", "--method", method, "-o", net)
    run_process("report", net, folder / "scales.csv", "-o", folder / f"{method}.html")
