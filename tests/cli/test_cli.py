"""The command line as a whole: help, exit codes, interrupts, pipes; every command once as a process of its own."""

import os
import signal
import subprocess
import sys
import time

import click
import pytest
from commands import (
    data_error,
    error_line,
    files_of,
    invoke,
    read_csv,
    read_json,
    run,
    run_process,
    write_csv,
    write_table,
)

import isinglass
from isinglass import errors
from isinglass.cli import COMMANDS, console, main


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return write_table(tmp_path_factory.mktemp("table") / "table.csv")


# ------------------------------------------------------------------------------------------- help


def test_help_lists_every_command_and_exit_code():
    text = run("--help").stdout
    for name in COMMANDS:
        assert f"\n  {name}  " in text
    for code in ("0  done", "2  wrong usage", "3  bad data", "4  not converged", "5  too large", "130  interrupted"):
        assert code in text


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name):
    text = run(name, "--help").stdout
    assert f"Usage: isinglass {name}" in text
    command = main.get_command(None, name)
    assert all(option.help for option in command.params if isinstance(option, click.Option) and not option.hidden)


def loaded_after(*words: str) -> set[str]:
    """Return the modules that a process has loaded once the command has ended."""
    code = (
        "import sys\nfrom isinglass.cli import main\n"
        f"try:\n    main({list(words)!r})\nexcept SystemExit:\n    pass\n"
        "sys.stderr.write('\\n'.join(sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(result.stderr.split())


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["fit", "--help"]])
def test_help_loads_nothing_heavy(words):
    loaded = loaded_after(*words)
    assert "click" in loaded
    assert not {"numpy", "scipy", "sklearn", "rich", "matplotlib", "isinglass._core"} & loaded


def test_version():
    assert run("--version").stdout == f"isinglass, version {isinglass.__version__}\n"


def test_unknown_command_is_wrong_usage():
    assert "No such command 'fitt'" in error_line(run("fitt", code=2))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell):
    script = run_process(_ISINGLASS_COMPLETE=f"{shell}_source").stdout
    assert "_ISINGLASS_COMPLETE" in script
    assert "isinglass" in script


@pytest.mark.parametrize(("words", "expected"), [("isinglass f", {"fit"}), ("isinglass fit --sel", {"--select"})])
def test_completion_completes(words, expected):
    environment = {"_ISINGLASS_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    code = "from isinglass.cli import main; main()"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}, check=True
    )
    assert {line.split(",")[1] for line in result.stdout.splitlines()} == expected


# ------------------------------------------------------------------------------------------- exit codes


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.DataError("bad"), 3),
        (errors.SeparationError("infinite"), 3),
        (errors.ConvergenceWarning("missed"), 4),
        (errors.LimitError("large"), 5),
        (MemoryError(), 5),
        (KeyboardInterrupt(), 130),
        (OSError(28, "No space left on device", "x.csv"), 1),
        (ImportError("matplotlib is not installed."), 1),
        (ZeroDivisionError("division by zero"), 1),
    ],
)
def test_every_error_has_its_code_and_one_line(error, code, capsys):
    assert console.report_error(error) == code
    text = capsys.readouterr().err
    assert text.count("\n") == 1
    assert text.startswith(("Error: ", "Interrupted."))


def test_a_defect_says_so_and_shows_where_if_asked(table, monkeypatch):
    from isinglass.select import task

    def broken(*arguments, **options):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setitem(task.ESTIMATORS, "joint", (broken, broken))
    line = error_line(run("fit", table, "--select", "ebic", code=1))
    assert "ZeroDivisionError" in line
    assert "-vv" in line
    result = invoke("fit", table, "--select", "ebic", "-vv")
    assert result.exit_code == 1
    assert "Traceback" in result.stderr


def test_not_converged_is_an_error_only_if_strict(table, tmp_path):
    words = ["fit", table, "--alpha", "0.001", "--tol", "1e-300"]  # beyond what rounding allows
    relaxed = run(*words)
    assert "Warning: " in relaxed.stderr
    assert "Certificate  NOT converged" in relaxed.stderr
    assert "source" in relaxed.stdout
    line = data_error(*words, "--strict", "-o", tmp_path / "net", code=4)
    assert "--tol" in line
    assert list(tmp_path.iterdir()) == []


def test_limit(tmp_path):
    """What cannot be set here is said to be a matter of Python."""
    (tmp_path / "wide.csv").write_text(",".join("0" * 100_001) + "\n")
    assert "max_columns in Python" in data_error("info", tmp_path / "wide.csv", code=5)


# ------------------------------------------------------------------------------------------- as a process


def test_every_command(table, tmp_path):
    """One that draws as a user would type it, and all others in this process."""
    net, model = tmp_path / "net", tmp_path / "net" / "model.npz"
    of_the_table = {
        "info": [table],
        "fit": [table, "-j", "1", "-o", net],
        "bootstrap": [table, "--alpha", "0.1", "-B", "10"],
        "compare": [table, "--groups", "#1", "--alpha", "0.1", "-B", "5", "-j", "1"],
    }
    of_the_model = {
        "predict": [model, table],
        "export": [model],
        "plot": ["centrality", model, "-o", tmp_path / "centrality.png"],
        "report": [model, "-o", tmp_path / "report.html"],
        "power": [model, "--rows", "30", "-B", "2", "--alpha", "0.1", "-j", "1"],
    }
    covered = {}
    for name, words in (of_the_table | of_the_model).items():
        covered[name] = (run_process if name == "plot" else run)(name, *words)
    assert COMMANDS.keys() - covered.keys() == {"demo", "app"}  # test_demo.py, tests/app
    assert "300, " in covered["info"].stdout
    written = {"edges.csv", "nodes.csv", "model.npz", "network.gexf", "methods.txt", "run.json"}
    assert {file.name for file in net.iterdir()} == written
    assert "inclusion" in covered["bootstrap"].stdout
    assert len(read_csv(covered["predict"].stdout)) == 300
    assert covered["export"].stdout.encode() == (net / "edges.csv").read_bytes()
    assert (tmp_path / "centrality.png").read_bytes().startswith(b"\x89PNG")
    assert "<!DOCTYPE html>" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_small_fit_loads_few_packages(tmp_path):
    """A small fit takes less than three times `import numpy, scipy.sparse`, as long as it loads none of these."""
    table = write_csv(tmp_path / "t.csv", ["a", "b", "c"], [[0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 1, 1]] * 50)
    code = f"import sys; from isinglass.cli import main; main(['fit', {str(table)!r}], standalone_mode=False)"
    listed = "; print(*sorted({name.partition('.')[0] for name in sys.modules} | set(sys.modules)), file=sys.stderr)"
    result = subprocess.run([sys.executable, "-c", code + listed], capture_output=True, text=True, check=True)
    loaded = set(result.stderr.split())
    assert {"numpy", "isinglass.select.two_stage"} <= loaded
    slow = {"sklearn", "pandas", "matplotlib", "networkx", "scipy.stats", "scipy.optimize", "narwhals", "dask"}
    slow |= {"scipy.special", "scipy.linalg", "joblib", "asyncio", "psutil", "rich"}
    assert loaded & slow == set()


def test_stdin_and_stdout_are_a_pipe(table):
    result = run_process("fit", "-", "--alpha", "0.1", "--json", "-q", stdin=table.read_text())
    assert result.stderr == ""
    assert read_json(result.stdout, "fit")["table"]["n_rows"] == 300


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    """Return the words of a command that prints more than a pipe holds."""
    folder = tmp_path_factory.mktemp("long")
    table = write_table(folder / "table.csv", 4000)
    run("fit", table, "--alpha", "0.05", "-o", folder / "net")
    return ["predict", str(folder / "net"), str(table), "-q"]


def test_long_output_is_whole_though_a_bare_pipe_takes_only_parts(long):
    assert run_process(*long, PYTHONUNBUFFERED="1").stdout.count("\n") == 4001


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_goes_away_is_no_error(long, unbuffered):
    command = [sys.executable, "-m", "isinglass", *long]
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141


def test_no_color_and_no_terminal(monkeypatch):
    """Facts are bold and warnings have a color, in a terminal and unless NO_COLOR says otherwise."""
    words, stdin = ["fit", "-", "--alpha", "0.1"], "a,b\n1,1\n1,1\n"
    bare = {"NO_COLOR": None, "FORCE_COLOR": None, "TTY_COMPATIBLE": None}
    plain = run_process(*words, stdin=stdin, **bare)
    assert "\x1b" not in plain.stderr
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    forced = run(*words, stdin=stdin)
    assert "\x1b[33mWarning: \x1b[0m" in forced.stderr
    assert "\x1b[1mTable" in forced.stderr
    assert plain.stdout == forced.stdout
    monkeypatch.setenv("NO_COLOR", "1")
    without = run(*words, stdin=stdin)
    assert "Warning: " in without.stderr
    assert "\x1b" not in without.stderr


@pytest.fixture
def interruptible():
    """Children would inherit that SIGINT is ignored, as it is where tests run in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_whose_exception_is_caught_still_has_its_exit_code(number):
    script = f"""if True:
        import contextlib, signal
        from isinglass.cli import main

        @main.command("caught")
        def caught():
            with contextlib.suppress(BaseException):
                signal.raise_signal({int(number)})

        main(["caught"])"""
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True)
    assert done.returncode == 128 + number
    assert done.stderr == ("Interrupted.\n" if number == signal.SIGINT else "")


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    "words",
    [
        ["bootstrap", "--alpha", "0.005", "-B", "20000"],
        pytest.param(["compare", "--groups", "#1", "--alpha", "0.005", "-B", "20000"], marks=pytest.mark.long),
    ],
)
def test_fault_08_signals_end_a_command_and_leave_nothing_behind(words, number, tmp_path):
    table, work = write_table(tmp_path / "table.csv", 2000), tmp_path / "work"
    work.mkdir()
    command = [sys.executable, "-m", "isinglass", words[0], str(table), *words[1:], "-o", "out", "-v"]
    with subprocess.Popen(command, cwd=work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stderr.readline()  # the log of the first fit: the run is under way
        time.sleep(0.3)
        process.send_signal(number)
        output, messages = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert output == ""
    assert ("Interrupted." in messages.splitlines()) == (number == signal.SIGINT)
    assert "Traceback" not in messages
    assert files_of(work) == {}
    assert list(work.iterdir()) == []
